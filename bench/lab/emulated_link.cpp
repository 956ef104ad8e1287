// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/emulated_link.hpp"

#include <fcntl.h>
#include <signal.h>

#include <stdexcept>

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

// Any two numbers do that are far apart; fixed, so that a run can be repeated.
constexpr std::uint32_t kOffsetA = 0x3d1f'72c5, kOffsetB = 0xb6e0'19a3;

// TUN drops what its queue does not hold: room for a window while the runner is not scheduled.
constexpr const char* kDeviceQueue = "10000";

// A copy that survives exec, for the runner.
Handle inheritable(const Namespace& where) {
  return Handle(checked(fcntl(where.descriptor(), F_DUPFD, 3), "F_DUPFD"));
}

Process start_runner(const Attachment& a, const Attachment& b, const LinkSettings& settings,
                     bool may_outlive_us) {
  const Handle in_a = inheritable(a.where);
  const Handle in_b = inheritable(b.where);
  const bool shifted = settings.translate_sequence_numbers;
  ProcessOptions options;
  options.may_outlive_us = may_outlive_us;
  return Process({HEADRACE_LINK_PROGRAM, "--netns-a", std::to_string(in_a.get()), "--device-a", a.device,
                  "--from-a", to_text(settings.a_to_b), "--offset-a", std::to_string(shifted ? kOffsetA : 0),
                  "--netns-b", std::to_string(in_b.get()), "--device-b", b.device, "--from-b",
                  to_text(settings.b_to_a), "--offset-b", std::to_string(shifted ? kOffsetB : 0)},
                 options);
}

}  // namespace

LinkSettings LinkSettings::round_trip(std::chrono::nanoseconds time, std::uint64_t rate,
                                      std::uint64_t queue) {
  LinkSettings settings;
  settings.a_to_b.delay = time / 2;
  settings.b_to_a.delay = time - time / 2;
  for (DirectionSettings* direction : {&settings.a_to_b, &settings.b_to_a}) {
    direction->rate = rate;
    direction->queue = queue;
  }
  settings.b_to_a.seed = 2;
  return settings;
}

EmulatedLink::EmulatedLink(const Attachment& a, const Attachment& b, const LinkSettings& settings,
                           bool may_outlive_us)
    : runner_(start_runner(a, b, settings, may_outlive_us)) {
  if (!runner_.wait_for_output("ready", 10s)) throw std::runtime_error("emulated link: " + runner_.output());
  for (const Attachment* end : {&a, &b}) {
    end->where.ip("link set " + end->device + " txqueuelen " + kDeviceQueue);
    configure(*end, settings.mtu);
  }
}

void EmulatedLink::cut() const { runner_.signal(SIGUSR1); }
void EmulatedLink::mend() const { runner_.signal(SIGUSR2); }

}  // namespace headrace::lab
