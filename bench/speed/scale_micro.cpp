// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/lab/spawn.hpp"
#include "bench/speed/scale_parts.hpp"

namespace headrace::lab {
namespace {

constexpr std::string_view kByHand = "/manual_time";

std::filesystem::path program() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "micro" /
         "headrace-micro";
}

double in_nanoseconds(const std::string& unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 1;
}

}  // namespace

MicroResults parse_micro(const std::string& json) {
  MicroResults results;
  const auto parsed = nlohmann::json::parse(json);
  for (const auto& one : parsed.at("benchmarks")) {
    if (one.value("run_type", "") != "iteration" || one.value("error_occurred", false)) continue;
    std::string name = one.at("run_name");
    const bool by_hand = name.ends_with(kByHand);
    if (by_hand) name.resize(name.size() - kByHand.size());
    const double time = one.at(by_hand ? "real_time" : "cpu_time");
    results[name].push_back(time * in_nanoseconds(one.value("time_unit", "ns")));
  }
  return results;
}

std::optional<MicroResults> run_micro(int repetitions, bool quick) {
  if (!std::filesystem::exists(program())) return std::nullopt;
  return parse_micro(run_command({program(), "--benchmark_format=json",
                                  "--benchmark_repetitions=" + std::to_string(repetitions),
                                  std::string("--benchmark_min_time=") + (quick ? "0.02" : "0.2")}));
}

}  // namespace headrace::lab
