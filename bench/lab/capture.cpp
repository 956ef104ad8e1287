// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/capture.hpp"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace headrace::lab {
namespace {

constexpr int kKernelBuffer = 64 * 1024 * 1024;
constexpr std::size_t kSnapshot = 256;  // headers, options, and a quoted packet; payload is counted, not kept

Handle open_capture(const std::string& device) {
  Handle handle(checked(socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "packet socket"));
  checked(setsockopt(handle.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kKernelBuffer, sizeof kKernelBuffer),
          "SO_RCVBUFFORCE");
  const int on = 1;
  checked(setsockopt(handle.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "SO_TIMESTAMPNS");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
  if (address.sll_ifindex == 0) throw_errno("no interface " + device);
  checked(bind(handle.get(), static_cast<sockaddr*>(static_cast<void*>(&address)), sizeof address),
          "bind capture");
  return handle;
}

std::chrono::nanoseconds timestamp(msghdr& message) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(&message, control)) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec at{};
    std::memcpy(&at, CMSG_DATA(control), sizeof at);
    return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
  }
  return std::chrono::system_clock::now().time_since_epoch();
}

}  // namespace

Capture::Capture(const Namespace& where, const std::string& device)
    : device_(device),
      socket_(where.run([&] { return open_capture(device); })),
      stop_(checked(eventfd(0, EFD_CLOEXEC), "eventfd")),
      reader_([this] { read_until_stopped(); }) {}

Capture::~Capture() {
  const std::uint64_t one = 1;
  if (write(stop_.get(), &one, sizeof one) == sizeof one) reader_.join();
}

void Capture::read_until_stopped() {
  std::array<pollfd, 2> watched{{{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (watched[1].revents == 0) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    while (read_one()) {
    }
  }
}

bool Capture::read_one() {
  std::array<std::uint8_t, kSnapshot> bytes;
  std::array<std::uint8_t, 128> control;
  sockaddr_ll from{};
  iovec where{bytes.data(), bytes.size()};
  msghdr message{&from, sizeof from, &where, 1, control.data(), control.size(), 0};
  const ssize_t size = recvmsg(socket_.get(), &message, 0);
  if (size < 0) return errno == EINTR;
  auto packet = parse_packet(ConstByteSpan(bytes.data(), static_cast<std::size_t>(size)));
  if (!packet) return true;
  packet->time = timestamp(message);
  packet->outgoing = from.sll_pkttype == PACKET_OUTGOING;
  packet->device = device_;
  {
    const std::lock_guard lock(mutex_);
    packets_.push_back(std::move(*packet));
  }
  grown_.notify_all();
  return true;
}

std::optional<Packet> Capture::wait_for(const Predicate& wanted, std::chrono::nanoseconds timeout) const {
  std::unique_lock lock(mutex_);
  std::optional<Packet> found;
  std::size_t looked = 0;
  grown_.wait_for(lock, timeout, [&] {
    for (; !found && looked < packets_.size(); ++looked) {
      if (wanted(packets_[looked])) found = packets_[looked];
    }
    return found.has_value();
  });
  return found;
}

bool Capture::wait_for_count(std::size_t count, const Predicate& wanted,
                             std::chrono::nanoseconds timeout) const {
  std::unique_lock lock(mutex_);
  std::size_t looked = 0;
  std::size_t seen = 0;
  return grown_.wait_for(lock, timeout, [&] {
    for (; looked < packets_.size(); ++looked) {
      if (wanted(packets_[looked])) ++seen;
    }
    return seen >= count;
  });
}

std::vector<Packet> Capture::packets() const {
  const std::lock_guard lock(mutex_);
  return packets_;
}

std::vector<Packet> Capture::packets(const Predicate& wanted) const {
  const std::lock_guard lock(mutex_);
  std::vector<Packet> result;
  std::copy_if(packets_.begin(), packets_.end(), std::back_inserter(result), wanted);
  return result;
}

std::size_t Capture::missed() const {
  tpacket_stats stats{};
  socklen_t size = sizeof stats;
  checked(getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size), "PACKET_STATISTICS");
  return stats.tp_drops;
}

}  // namespace headrace::lab
