// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a pump with so many bytes waiting, over loopback TCP and over socket pairs, which cost next to
// nothing themselves. Filling and emptying are not in the time.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>

#include "bench/lab/socket.hpp"
#include "proxy/pump.hpp"

namespace {

using namespace headrace;

enum class Over { tcp, pair };

// A connection: the application's end, and the relay's.
struct Ends {
  lab::Socket application;
  Fd relay;
};

Ends connected(Over over) {
  if (over == Over::pair) {
    std::array<int, 2> ends{};
    lab::checked(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()),
                 "socketpair");
    return {lab::Socket{lab::Handle{ends[0]}}, Fd{ends[1]}};
  }
  const lab::Socket listener = lab::Socket::listen("127.0.0.1:0");
  lab::Socket application = lab::Socket::connect(listener.local());
  const lab::Socket accepted = listener.accept();
  return {std::move(application), Fd{lab::checked(fcntl(accepted.descriptor(), F_DUPFD_CLOEXEC, 0), "dup")}};
}

// `pipes`: 0, and the pump only copies; else it splices as soon as the warming up has made it bulk.
void pump(benchmark::State& state, Over over, std::size_t pipes) {
  constexpr int kWarmUp = 64;
  Ends source = connected(over);
  Ends sink = connected(over);
  Leg from{.socket = std::move(source.relay)};
  Leg to{.socket = std::move(sink.relay)};
  MemoryBudget budget{64U * 1024 * 1024};
  WorkerResources resources{budget, pipes};
  Pump pump{from, to, PumpSettings{}};
  const std::string bytes = lab::pattern(static_cast<std::size_t>(state.range(0)));
  const auto once = [&] {
    source.application.send_all(bytes);
    from.readable = to.writable = true;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t moved = 0; moved < bytes.size();) {
      from.readable = true;
      const std::uint64_t some = pump.run(resources);
      if (some == 0 && !pump.is_holding()) break;
      moved += some;
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const bool whole = sink.application.receive_exactly(bytes.size()).end == lab::End::done;
    return whole ? took.count() : -1;
  };
  for (int i = 0; i < kWarmUp; ++i) once();
  for (auto unused : state) {
    const double took = once();
    if (took < 0) return state.SkipWithError("the bytes did not arrive");
    state.SetIterationTime(took);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  pump.release(resources);
}

// Splice is for reads of 16 KiB and more (proxy/pump.cpp).
BENCHMARK_CAPTURE(pump, tcp_copy, Over::tcp, 0)->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime();
BENCHMARK_CAPTURE(pump, tcp_splice, Over::tcp, 8)->Arg(65536)->UseManualTime();
BENCHMARK_CAPTURE(pump, pair_copy, Over::pair, 0)->Arg(64)->Arg(4096)->Arg(65536)->UseManualTime();
BENCHMARK_CAPTURE(pump, pair_splice, Over::pair, 8)->Arg(65536)->UseManualTime();

}  // namespace
