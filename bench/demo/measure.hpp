// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "bench/demo/demo_lab.hpp"

namespace headrace::lab {

// One number of one workload, as measured once. `text` is what people read; `intact`: what arrived was what
// was sent.
struct Measured {
  std::string id;
  double value = 0;
  std::string text;
  bool intact = true;
};

// What a row is about, whoever carries the traffic.
struct RowTitle {
  std::string id;
  std::string title;
  std::string unit;  // of the values
  double ideal = 0;
  std::string ideal_text;
};

// SQL*Plus exchanges and FTP need the far lab (the WAN), small messages the near one, where no round trip
// hides a delayed ACK. `run`: "direct" or "headrace"; keeps files apart. Progress goes to stderr. Throws when
// a workload fails.
std::vector<Measured> measure_far(const DemoLab& demo, const std::string& run);
std::vector<Measured> measure_near(const DemoLab& demo);

// Connections that the far measurements make, for whoever must prove that they came by.
inline constexpr int kExchangeSessions = 2, kFtpSessions = 4, kMessageSessions = 1;

std::vector<RowTitle> row_titles();

}  // namespace headrace::lab
