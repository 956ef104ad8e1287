// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bench/speed/turns.hpp"

namespace headrace::lab {

// How the server sends.
struct SqlplusServer {
  std::string id, title;
  std::string congestion;     // of its listener; empty: the kernel's default
  std::string of_the_middle;  // of the proxies, by route; empty: what they ask for, or the kernel's default
};

// One row: one path, one kind of server, one answer.
struct SqlplusCase {
  std::chrono::milliseconds rtt{0};
  SqlplusServer server;
  std::size_t answer = 0;  // bytes

  std::string id() const;     // of its row
  std::string title() const;  // likewise
  std::string lan_metric() const;
};

// Everything the servers are measured with.
std::vector<SqlplusCase> sqlplus_cases(const std::vector<SqlplusServer>& servers);

inline constexpr const char* kLanExchange = "lan_exchange";  // the row of the exchange without a WAN

// What plots show beside the numbers. Filled by turns that run side by side; what came first stays.
class SqlplusTrace {
 public:
  void keep_trips(const SqlplusCase& one, const std::string& contender, const std::vector<double>& trips);
  void keep_sequence(const std::string& title, std::vector<std::pair<double, double>> points);

  std::vector<Plot> plots() const;  // once all turns are over

  // Which rows are drawn exchange by exchange, and which of them also as a sequence.
  static bool is_drawn(const SqlplusCase& one);
  static bool is_drawn_as_sequence(const SqlplusCase& one, const std::string& contender);

 private:
  std::mutex mutex_;
  std::vector<Plot> trips_;
  std::map<std::string, Curve> sequences_;
};

// The trace outlives the rows.
std::vector<Row> sqlplus_rows(const std::vector<SqlplusServer>& servers, SqlplusTrace& trace);

}  // namespace headrace::lab
