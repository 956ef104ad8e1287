// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/workload/exchange.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <thread>

#include "bench/workload/moderation.hpp"
#include "bench/workload/serve.hpp"

namespace headrace::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kServerPatience = std::chrono::hours(1);
constexpr std::size_t kSegment = 1448, kHeaders = 52;  // Ethernet's MTU, timestamps on

}  // namespace

ExchangeConnection::ExchangeConnection(const std::string& server, const ExchangeSettings& settings)
    : settings_(settings), request_(pattern(settings.request)), socket_(Handle{}) {
  SocketOptions options;
  options.nodelay = true;
  options.congestion = settings.congestion;
  const auto start = Clock::now();
  socket_ = Socket::connect(server, options);
  connect_time_ = Clock::now() - start;
  send_or_throw(socket_, as_bytes(settings.request) + as_bytes(settings.response), settings.timeout);
  receive_or_throw(socket_, 1, settings.timeout);  // so that the first exchange is an exchange alone
}

std::chrono::nanoseconds ExchangeConnection::exchange() const {
  const auto start = Clock::now();
  send_or_throw(socket_, request_, settings_.timeout);
  receive_or_throw(socket_, settings_.response, settings_.timeout);
  return Clock::now() - start;
}

ExchangeReport run_exchanges(const std::string& server, const ExchangeSettings& settings) {
  const ExchangeConnection connection(server, settings);
  ExchangeReport report;
  report.connect = connection.connect_time();
  for (int n = 0; n < settings.count; ++n) {
    if (n > 0) std::this_thread::sleep_for(settings.pause);
    report.times.push_back(connection.exchange());
  }
  return report;
}

void serve_exchanges(const Socket& connection, Sending sending) {
  connection.set_option(IPPROTO_TCP, TCP_NODELAY, 1);
  const std::string sizes = receive_or_throw(connection, 16, kServerPatience);
  const std::size_t request = as_number(std::string_view(sizes).substr(0, 8));
  const std::string response = pattern(as_number(std::string_view(sizes).substr(8)));
  send_or_throw(connection, "!", kServerPatience);
  while (connection.receive_exactly(request, kServerPatience).end == End::done) {
    const End end = sending == Sending::moderated ? send_moderated(connection, response, kServerPatience)
                                                  : connection.send_all(response, kServerPatience);
    if (end != End::done) return;
  }
}

std::chrono::nanoseconds median(std::vector<std::chrono::nanoseconds> times) {
  if (times.empty()) return {};
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

double round_trips(std::chrono::nanoseconds time, std::size_t response, std::uint64_t rate,
                   std::chrono::nanoseconds rtt) {
  const std::size_t wire = response + (response + kSegment - 1) / kSegment * kHeaders;
  const double serialization = rate == 0 ? 0 : static_cast<double>(wire) * 8 / static_cast<double>(rate);
  const double spent = std::chrono::duration<double>(time).count() - serialization;
  return spent / std::chrono::duration<double>(rtt).count();
}

}  // namespace headrace::lab
