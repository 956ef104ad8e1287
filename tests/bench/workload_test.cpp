// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <thread>

#include "bench/lab/inline_lab.hpp"
#include "bench/workload/bulk.hpp"
#include "bench/workload/exchange.hpp"
#include "bench/workload/small_messages.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

constexpr std::uint64_t kRate = 100'000'000;
const std::string kAt = endpoint(kServer4, 5000);

// Serves one connection at the lab's server for as long as the object lives, at most until the client is
// gone.
template <typename Serve>
class OneServed {
 public:
  OneServed(const InlineLab& lab, Serve serve)
      : listener_(Socket::listen(lab.server, kAt, cubic())),
        thread_([this, serve] { serve(listener_.accept(60s)); }) {}
  ~OneServed() { thread_.join(); }

 private:
  static SocketOptions cubic() {
    SocketOptions options;
    options.congestion = "cubic";
    return options;
  }

  Socket listener_;
  std::thread thread_;
};

InlineLabSettings wan() {
  InlineLabSettings settings;
  settings.client_link = LinkSettings::round_trip(40ms, kRate);
  return settings;
}

double steady_round_trips(const InlineLab& lab, Sending sending, std::size_t response) {
  const OneServed served(lab, [sending](const Socket& connection) { serve_exchanges(connection, sending); });
  ExchangeSettings settings;
  settings.response = response;
  settings.count = 12;
  ExchangeReport report = lab.client.run([&] { return run_exchanges(kAt, settings); });
  report.times.erase(report.times.begin(), report.times.begin() + 4);
  return round_trips(median(report.times), response, kRate, 40ms);
}

}  // namespace

TEST_CASE("exchange: a moderated sender needs two round trips for 9,356 bytes and three for 50,000") {
  const InlineLab lab(wan());
  const double small = steady_round_trips(lab, Sending::moderated, 9'356);
  const double large = steady_round_trips(lab, Sending::moderated, 50'000);
  WARN("moderated: " << small << " and " << large << " round trips");
  CHECK(small == Approx(2).margin(0.4));
  CHECK(large == Approx(3).margin(0.4));
}

TEST_CASE("exchange: a plain cubic sender needs one round trip once its window is open") {
  const InlineLab lab(wan());
  CHECK(steady_round_trips(lab, Sending::plain, 9'356) == Approx(1).margin(0.4));
  CHECK(steady_round_trips(lab, Sending::plain, 50'000) == Approx(1).margin(0.4));
}

TEST_CASE("exchange: on a LAN, moderation costs next to nothing") {
  const InlineLab lab;
  const OneServed served(lab,
                         [](const Socket& connection) { serve_exchanges(connection, Sending::moderated); });
  ExchangeSettings settings;
  settings.response = 50'000;
  const ExchangeReport report = lab.client.run([&] { return run_exchanges(kAt, settings); });
  CHECK(median(report.times) < 4ms);
}

TEST_CASE("messages: most rounds stall when Nagle meets delayed acknowledgements") {
  const InlineLab lab;
  const OneServed served(lab, serve_small_messages);
  const SmallMessageReport report = lab.client.run([&] { return run_small_messages(kAt, {}); });
  WARN("stalled rounds " << report.stalled_rounds << ", worst " << report.worst.count() / 1000 << " us");
  CHECK(report.waits.size() == 10);
  CHECK(report.stalled_rounds >= 7);
}

TEST_CASE("messages: a request written in two parts waits for a delayed acknowledgement") {
  const InlineLab lab;
  const OneServed served(lab, serve_small_messages);
  SmallMessageSettings settings;
  settings.messages = 1;
  settings.rounds = 40;
  settings.in_two_parts = 10;
  settings.pause = 5ms;
  const SmallMessageReport report = lab.client.run([&] { return run_small_messages(kAt, settings); });
  std::vector<std::chrono::nanoseconds> whole, in_parts;
  for (std::size_t round = 0; round < report.waits.size(); ++round)
    ((round + 1) % 10 == 0 ? in_parts : whole).push_back(report.waits[round].front());
  CHECK(in_parts.size() == 4);
  CHECK(*std::min_element(in_parts.begin(), in_parts.end()) >= settings.stall);
  CHECK(median(whole) < settings.stall);
}

TEST_CASE("bulk: both directions arrive intact") {
  const InlineLab lab;
  for (const auto direction : {BulkDirection::upload, BulkDirection::download}) {
    const OneServed served(lab, serve_bulk);
    BulkSettings settings;
    settings.direction = direction;
    settings.size = 3'000'001;
    const BulkReport report = lab.client.run([&] { return run_bulk(kAt, settings); });
    CHECK(report.intact);
    CHECK(report.bytes == 3'000'001);
    CHECK(report.rate() > 0);
  }
}

}  // namespace headrace::lab
