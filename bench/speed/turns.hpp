// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/speed/contender.hpp"
#include "bench/speed/report.hpp"
#include "bench/speed/scenario.hpp"

namespace headrace::lab {

// What a row's measurement is given: a lab of its own with one contender running in it and nobody else.
struct Turn {
  const SpeedLab& lab;
  const Running& contender;
  bool quick = false;
};

// A row of a scenario: what is measured, of whom, and how. `measure` returns one number a metric, in order.
struct Row {
  std::string id, title;
  std::vector<Metric> metrics;
  std::vector<std::string> contenders;  // ids
  LabSpec lab;
  std::function<std::vector<double>(const Turn&)> measure;
  int turns = 0;  // 0: as many as the scenario has; counts need fewer than times
  // Of the machine, for one contender's turn. Less than 1 where a link decides what is measured: others take
  // theirs meanwhile.
  double share = 1;
};

struct AvailableContender {
  Contender contender;
  std::filesystem::path program;
};

// Measures the row with each contender in turn, and again, so that whatever else the machine does meets all
// of them alike; every other round goes backwards. Every turn has a fresh lab: no connection, port or
// conntrack entry of the turn before is left.
RowReport take_turns(const Row& row, const std::vector<AvailableContender>& contenders, int turns,
                     bool quick);

// The same for rows that leave room for each other: every contender's turns begin as soon as there is some.
// Rows of the smallest share wait the most for their links, and begin first.
std::vector<RowReport> take_turns_at_once(const std::vector<Row>& rows,
                                          const std::vector<AvailableContender>& contenders, int turns,
                                          bool quick);

// For the handler of signals: the turn after this one throws Interrupted. interrupt() alone may be heard by a
// destructor that waits for a program, which cannot throw. Async-signal-safe.
void take_no_more_turns() noexcept;
bool takes_no_more_turns() noexcept;  // what fails from then on may have got the same signal

}  // namespace headrace::lab
