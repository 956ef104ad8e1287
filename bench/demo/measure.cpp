// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/demo/measure.hpp"

#include <array>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "bench/workload/exchange.hpp"
#include "bench/workload/small_messages.hpp"

namespace headrace::lab {
namespace {

constexpr std::size_t kSmallAnswer = 9'356, kLargeAnswer = 50'000;
constexpr int kExchanges = 24;

struct FtpCase {
  const char* id;
  const char* title;
  FtpMode mode;
  FtpDirection direction;
};

constexpr std::array<FtpCase, 4> kFtpCases{{
    {"ftp_passive_download", "FTP download, passive", FtpMode::passive, FtpDirection::download},
    {"ftp_passive_upload", "FTP upload, passive", FtpMode::passive, FtpDirection::upload},
    {"ftp_active_download", "FTP download, active", FtpMode::active, FtpDirection::download},
    {"ftp_active_upload", "FTP upload, active", FtpMode::active, FtpDirection::upload},
}};

std::string fixed(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void say(const std::string& run, const char* what) { std::fprintf(stderr, "  %s: %s\n", run.c_str(), what); }

Measured exchange_row(const DemoLab& demo, const char* id, std::size_t response) {
  ExchangeSettings settings;
  settings.response = response;
  settings.count = kExchanges;
  const ExchangeReport report =
      demo.lab.client.run([&] { return run_exchanges(endpoint(kServer4, kExchangePort), settings); });
  const double trips = round_trips(median(report.times), response, kWanRate, demo.rtt());
  return {id, trips, fixed(trips, 2) + " round trips"};
}

Measured ftp_row(const DemoLab& demo, const FtpCase& one, const std::string& run) {
  const FtpTransfer transfer = transfer_file(demo.lab.client, demo.ftp(), kServer4, one.mode, one.direction,
                                             demo.dir, run + "-" + one.id);
  const double took = seconds(transfer.time);
  const double rate = took > 0 ? static_cast<double>(transfer.bytes) * 8 / took / 1e6 : 0;
  return {one.id, took,
          fixed(took, 2) + " s, " + fixed(rate, 1) + " Mbit/s, " + (transfer.intact ? "ok" : "DAMAGED"),
          transfer.intact};
}

// What the payload alone takes on the link, headers included.
double ftp_ideal() { return static_cast<double>(kFtpFileSize) * 8 / kWanRate * 1500 / 1448; }

}  // namespace

std::vector<Measured> measure_far(const DemoLab& demo, const std::string& run) {
  std::vector<Measured> rows;
  say(run, "exchanges of 21 and 9,356 bytes");
  rows.push_back(exchange_row(demo, "exchange_9356", kSmallAnswer));
  say(run, "exchanges of 21 and 50,000 bytes");
  rows.push_back(exchange_row(demo, "exchange_50000", kLargeAnswer));
  for (const FtpCase& one : kFtpCases) {
    say(run, one.title);
    rows.push_back(ftp_row(demo, one, run));
  }
  return rows;
}

std::vector<Measured> measure_near(const DemoLab& demo) {
  const SmallMessageReport report =
      demo.lab.client.run([&] { return run_small_messages(endpoint(kServer4, kMessagePort), {}); });
  const double worst = seconds(report.worst) * 1000;
  return {{"messages_stalled", static_cast<double>(report.stalled_rounds),
           std::to_string(report.stalled_rounds) + " of " + std::to_string(report.waits.size())},
          {"messages_worst", worst, fixed(worst, 1) + " ms"}};
}

std::vector<RowTitle> row_titles() {
  std::vector<RowTitle> titles{
      {"exchange_9356", "SQL*Plus, 21 B out, 9,356 B back", "round trips", 1, "1.00"},
      {"exchange_50000", "SQL*Plus, 21 B out, 50,000 B back", "round trips", 1, "1.00"},
      {"messages_stalled", "10 x 132 B a round: rounds stalled", "rounds", 0, "0"},
      {"messages_worst", "10 x 132 B a round: worst wait", "ms", 5, "5 ms"},
  };
  for (const FtpCase& one : kFtpCases) {
    titles.push_back({one.id, one.title, "s", ftp_ideal(), fixed(ftp_ideal(), 2) + " s"});
  }
  return titles;
}

}  // namespace headrace::lab
