// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/session_summary.hpp"

// The log, on standard error. From any thread; never blocks a worker: when whoever reads it is too slow,
// the oldest lines are dropped, not the traffic. The only files that know spdlog.
namespace headrace {

class Log {
 public:
  explicit Log(const LogSettings& settings);
  ~Log();  // writes what is queued
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void debug(std::string_view line);
  void info(std::string_view line);
  void warning(std::string_view line);
  void error(std::string_view line);
  void session(const SessionSummary& summary);
  void apply(const LogSettings& settings);  // after a reload

 private:
  struct Sink;
  std::unique_ptr<Sink> sink_;
};

}  // namespace headrace
