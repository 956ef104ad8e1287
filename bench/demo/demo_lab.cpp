// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/demo/demo_lab.hpp"

#include <stdexcept>

#include "bench/demo/kept_lab.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

// A fifth of a second at the WAN's rate: the link drops nothing that a sane sender sends.
constexpr std::uint64_t kWanQueue = kWanRate / 8 / 5;

InlineLabSettings settings_for(std::chrono::nanoseconds rtt, DemoLab::Lifetime lifetime) {
  InlineLabSettings settings;
  settings.client_link = LinkSettings::round_trip(rtt, kWanRate, kWanQueue);
  settings.may_outlive_us = lifetime == DemoLab::Lifetime::may_be_kept;
  if (settings.may_outlive_us) settings.name = kKeptLab;
  return settings;
}

Process start_server(const DemoLab& demo, const std::vector<std::string>& argv) {
  ProcessOptions options;
  options.output_file = demo.dir / (argv[1] + ".log");
  options.may_outlive_us = demo.may_be_kept();
  Process process(demo.lab.server, argv, options);
  if (!process.wait_for_output("ready", 10s)) throw std::runtime_error(argv[1] + ": " + process.output());
  return process;
}

}  // namespace

// cubic, not the machine's default: bbr would pace the bursts that the story is about.
DemoLab::DemoLab(std::chrono::nanoseconds rtt, const Programs& programs, Lifetime lifetime)
    : lab(settings_for(rtt, lifetime)),
      rtt_(rtt),
      lifetime_(lifetime),
      exchange_server_(
          start_server(*this, {programs.workload, "exchange-server", endpoint(kServer4, kExchangePort),
                               "--moderated", "--congestion", "cubic"})),
      message_server_(
          start_server(*this, {programs.workload, "messages-server", endpoint(kServer4, kMessagePort)})),
      ftp_(lab.server, dir, kServer4, kFtpFileSize, may_be_kept()) {}

void DemoLab::keep() {
  exchange_server_.release();
  message_server_.release();
  ftp_.release();
  lab.keep();
  dir.keep();
}

}  // namespace headrace::lab
