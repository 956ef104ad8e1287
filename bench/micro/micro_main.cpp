// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-micro: Google Benchmark's own command line (--benchmark_filter, --benchmark_format=json), inside a
// network namespace of its own. Run by bench/run scale.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>

#include "bench/lab/namespace.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  try {
    const headrace::lab::Namespace here("micro");
    here.run([] { benchmark::RunSpecifiedBenchmarks(); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-micro: %s\n", error.what());
    return 1;
  }
  return 0;
}
