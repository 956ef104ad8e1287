// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/scale_parts.hpp"
#include "tests/test.hpp"

namespace headrace::lab {

TEST_CASE("micro-benchmarks: each repetition counts, by the thread's time in nanoseconds") {
  const MicroResults results = parse_micro(R"({"context": {}, "benchmarks": [
    {"run_name": "lookup/hosts/10", "run_type": "iteration", "real_time": 90, "cpu_time": 30, "time_unit": "ns"},
    {"run_name": "lookup/hosts/10", "run_type": "iteration", "real_time": 90, "cpu_time": 0.04, "time_unit": "us"},
    {"run_name": "lookup/hosts/10", "run_type": "aggregate", "real_time": 1, "cpu_time": 1, "time_unit": "ns"}]})");
  CHECK(results == MicroResults{{"lookup/hosts/10", {30, 40}}});
}

TEST_CASE("micro-benchmarks: what is timed by hand counts by the clock, under its plain name") {
  const MicroResults results = parse_micro(R"({"benchmarks": [
    {"run_name": "pump/copy/64/manual_time", "run_type": "iteration", "real_time": 2, "cpu_time": 9, "time_unit": "us"}]})");
  CHECK(results == MicroResults{{"pump/copy/64", {2000}}});
}

TEST_CASE("micro-benchmarks: what failed is not there") {
  CHECK(
      parse_micro(R"({"benchmarks": [{"run_name": "a/1", "run_type": "iteration", "error_occurred": true}]})")
          .empty());
}

}  // namespace headrace::lab
