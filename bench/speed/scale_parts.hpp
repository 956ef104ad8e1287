// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

// What the scenario `scale` measures; its rows and bars are in scale.cpp. Each makes what it needs and leaves
// nothing behind, and throws std::runtime_error when the daemon does not do what it should.
namespace headrace::lab {

// CPU of the proxy for one 64-byte exchange while so many sessions are live, in seconds: with the exchanges
// on all of them in turn, and all on one while the others are silent.
struct SessionCost {
  double spread = 0;
  double one = 0;
};
// Why this host cannot have so many, or nothing: the daemon and this process, which has both ends of all,
// need two descriptors a session.
std::optional<std::string> why_no_room(int sessions);
SessionCost cost_with_sessions(const std::filesystem::path& headrace, int sessions, int exchanges);

// What a reload takes with so many policies, of which one is another than before, or none is. nft's own time
// is taken by a program of that name which comes first in the daemon's PATH.
struct ReloadCost {
  double start = 0;  // seconds until ready
  double cpu = 0;    // seconds of the daemon's processor time
  double own = 0;    // seconds without nft
  double nft = 0;    // seconds in nft
  double sent = 0;   // bytes given to nft, of one changed policy
  double sent_at_start = 0;
  double sent_unchanged = 0;  // bytes, when nothing changed
};
ReloadCost cost_of_reload(const std::filesystem::path& headrace, int policies);

// Google Benchmark's results by name ("lookup/hosts/100000"), nanoseconds of every repetition: of the thread
// where that is what the benchmark measures, of the clock where it stops it by hand. Pure.
using MicroResults = std::map<std::string, std::vector<double>>;
MicroResults parse_micro(const std::string& json);
// Runs the program that stands in the same build tree; nothing where it was not built.
std::optional<MicroResults> run_micro(int repetitions, bool quick);

}  // namespace headrace::lab
