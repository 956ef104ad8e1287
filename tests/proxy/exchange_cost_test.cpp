// SPDX-License-Identifier: GPL-3.0-or-later
#include <iostream>
#include <map>
#include <sstream>

#include "bench/lab/process.hpp"
#include "bench/lab/socket.hpp"
#include "bench/lab/spawn.hpp"
#include "bench/lab/temp_dir.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

struct Calls {
  int made = 0;
  int failed = 0;
};

// The table of `strace -c`: per cent, seconds, us a call, calls, errors (may be missing), name.
std::map<std::string, Calls> read_table(const std::string& text) {
  std::map<std::string, Calls> calls;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (row.size() < 5 || row.back() == "syscall" || row.back() == "total" || row[0][0] == '-') continue;
    calls[row.back()] = {std::stoi(row[3]), row.size() > 5 ? std::stoi(row[4]) : 0};
  }
  return calls;
}

std::string address_in(const std::string& output) {
  const auto begin = output.find("listening at ") + 13;
  return output.substr(begin, output.find(".\n", begin) - begin);
}

// The calls of a worker's process that relays so many exchanges of one small message each way, all else that
// it does included.
std::map<std::string, Calls> calls_of_exchanges(int count) {
  const lab::TempDir directory;
  const lab::Socket listener = lab::Socket::listen("127.0.0.1:0");
  lab::ProcessOptions options;
  options.environment = {"ASAN_OPTIONS=detect_leaks=0"};  // they can't be looked for under ptrace
  lab::Process process({"strace", "-f", "-c", "-o", directory / "calls", HEADRACE_EXCHANGE_COST,
                        std::to_string(listener.local_port())},
                       options);
  REQUIRE(process.wait_for_output(".\n", 20s));
  {
    const lab::Socket client = lab::Socket::connect(address_in(process.output()));
    const lab::Socket server = listener.accept();
    for (int i = 0; i < count; ++i) {
      client.send_all("ping");
      REQUIRE(server.receive_exactly(4).bytes == "ping");
      server.send_all("pong");
      REQUIRE(client.receive_exactly(4).bytes == "pong");
    }
  }
  REQUIRE(process.wait(20s));
  return read_table(lab::read_file(directory / "calls"));
}

bool has_strace() {
  try {
    lab::run_command({"strace", "-c", "-o", "/dev/null", "true"});
    return true;
  } catch (const std::exception&) {
    std::cout << "SKIPPED: strace is missing or may not trace here\n";
    return false;
  }
}

}  // namespace

TEST_CASE("a small message costs one recv, one send, one QUICKACK and one wait") {
  if (!has_strace()) return;
  constexpr int kFew = 50;
  constexpr int kMany = 450;
  constexpr int kMessages = 2 * (kMany - kFew);
  constexpr int kSlack = kMessages / 50;
  auto few = calls_of_exchanges(kFew);
  auto many = calls_of_exchanges(kMany);
  const auto cost = [&](const char* name) { return many[name].made - few[name].made; };
  CHECK(cost("recvfrom") <= kMessages + kSlack);
  CHECK(cost("sendto") <= kMessages + kSlack);
  CHECK(cost("setsockopt") <= kMessages + kSlack);
  CHECK(cost("epoll_pwait2") <= kMessages + kSlack);
  CHECK(many["recvfrom"].failed <= few["recvfrom"].failed + kSlack);
  for (const char* never : {"epoll_ctl", "splice", "ioctl", "getsockopt", "clock_gettime", "pipe2"})
    CHECK(cost(never) <= kSlack);
}

}  // namespace headrace
