// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/link_runner.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace headrace::lab {
namespace {

constexpr int kBatch = 64;  // packets of one direction before the other gets its turn

volatile sig_atomic_t link_is_cut = 0;

LinkQueue::Time monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

timespec until(LinkQueue::Time due) {
  const auto left = std::max(LinkQueue::Time::zero(), due - monotonic_now()).count();
  return {static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
}

}  // namespace

Handle open_tun(const std::string& device) {
  Handle tun(checked(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun"));
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  checked(ioctl(tun.get(), TUNSETIFF, &request), "TUNSETIFF");
  return tun;
}

LinkRunner::LinkRunner(Side a, Side b)
    : tuns_{std::move(a.tun), std::move(b.tun)},
      directions_{Direction{tuns_[0].get(), tuns_[1].get(), LinkQueue(a.outgoing),
                            shift_for(a.sequence_offset, b.sequence_offset)},
                  Direction{tuns_[1].get(), tuns_[0].get(), LinkQueue(b.outgoing),
                            shift_for(b.sequence_offset, a.sequence_offset)}} {}

void LinkRunner::obey_signals() {
  signal(SIGUSR1, [](int) { link_is_cut = 1; });
  signal(SIGUSR2, [](int) { link_is_cut = 0; });
}

void LinkRunner::take_in(Direction& direction) {
  for (int taken = 0; taken < kBatch; ++taken) {
    const ssize_t size = read(direction.from, buffer_.data(), buffer_.size());
    if (size <= 0) return;  // EAGAIN, or EIO while the interface is down
    if (link_is_cut != 0) continue;
    LinkQueue::Packet packet(buffer_.begin(), buffer_.begin() + size);
    translate(packet, direction.shift);
    direction.queue.enqueue(monotonic_now(), std::move(packet));
  }
}

void LinkRunner::give_out(Direction& direction) {
  while (const auto packet = direction.queue.pop_due(monotonic_now())) {
    // EIO: the interface is down, and so is the link.
    if (write(direction.to, packet->data(), packet->size()) < 0 && errno == EINTR) continue;
  }
}

void LinkRunner::run() {
  while (true) {
    std::optional<LinkQueue::Time> due = directions_[0].queue.next_due();
    if (const auto other = directions_[1].queue.next_due(); other && (!due || *other < *due)) due = other;
    const timespec timeout = due ? until(*due) : timespec{};
    std::array<pollfd, 2> watched{{{directions_[0].from, POLLIN, 0}, {directions_[1].from, POLLIN, 0}}};
    const int ready = ppoll(watched.data(), watched.size(), due ? &timeout : nullptr, nullptr);
    for (std::size_t side = 0; side < 2; ++side) {
      if (ready > 0 && watched[side].revents != 0) take_in(directions_[side]);
      give_out(directions_[side]);
    }
  }
}

}  // namespace headrace::lab
