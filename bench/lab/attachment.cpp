// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/attachment.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {
namespace {

using namespace std::chrono_literals;

bool resolves_neighbours(const std::string& device) {
  const Handle any(checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  ifreq request{};
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  checked(ioctl(any.get(), SIOCGIFFLAGS, &request), "SIOCGIFFLAGS");
  return (request.ifr_flags & (IFF_NOARP | IFF_LOOPBACK)) == 0;
}

// "eth0            ff0200000000000000000001ff000009" as /proc/net/igmp6 has it.
std::string solicited_group(const std::string& device, const std::string& address) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1)
    throw std::invalid_argument("address " + address);
  std::array<char, 80> line;
  std::snprintf(line.data(), line.size(), "%-15s ff0200000000000000000001ff%02x%02x%02x", device.c_str(),
                bytes[13], bytes[14], bytes[15]);
  return line.data();
}

// The kernel joins the address's solicited-node group in a work item of its own, without telling anybody; a
// neighbour that asks before gets no answer and asks again a second later.
void wait_until_reachable(const Namespace& where, const std::string& device, const std::string& address) {
  const std::string group = solicited_group(device, address);
  where.run([&] {
    if (!resolves_neighbours(device)) return;
    const Deadline deadline(1s);
    while (read_file("/proc/thread-self/net/igmp6").find(group) == std::string::npos && !deadline.passed()) {
      std::this_thread::sleep_for(500us);
    }
  });
}

}  // namespace

void add_addresses(const Attachment& end) {
  std::string lines;
  for (const std::string& address : end.addresses) {
    const bool six = address.find(':') != std::string::npos;
    lines += "addr add " + address + " dev " + end.device + (six ? " nodad\n" : "\n");
  }
  end.where.ip(lines);
  for (const std::string& address : end.addresses) {
    if (address.find(':') == std::string::npos) continue;
    wait_until_reachable(end.where, end.device, address.substr(0, address.find('/')));
  }
}

void configure(const Attachment& end, int mtu) {
  end.where.ip("link set " + end.device + " mtu " + std::to_string(mtu) + " up");
  add_addresses(end);
}

}  // namespace headrace::lab
