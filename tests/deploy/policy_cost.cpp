// SPDX-License-Identifier: GPL-3.0-or-later
// Not a test: what a rule set of many policies costs, in time of `nft -f` and for each SYN. SYNs go through
// a veth, whose other end does its work in the sender's call, to the last policy; the forward hook drops
// them.
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/socket_address.hpp"
#include "deploy/net_apply.hpp"
#include "tests/deploy/given.hpp"

namespace {

using namespace headrace;
using Clock = std::chrono::steady_clock;

constexpr int kSyns = 20'000;

// Distinct destinations can be found by address; ports of one destination can't, and are walked.
std::vector<given::PolicyText> policies(int count, bool by_address) {
  std::vector<given::PolicyText> texts;
  for (int i = 0; i < count; ++i) {
    const int back = count - 1 - i;
    const std::string host = "198.18." + std::to_string(16 + back / 256) + "." + std::to_string(back % 256);
    texts.push_back({{},
                     {by_address ? host : "198.18.16.0"},
                     {by_address ? "1521" : std::to_string(1521 + back)},
                     i % 2 == 0 ? "a" : "b"});
  }
  return texts;
}

struct Syn {
  iphdr ip{};
  tcphdr tcp{};
};

double nanoseconds_each(const lab::InlineLab& lab) {
  return lab.client.run([] {
    const int fd = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    const lab::SocketAddress to{"198.18.16.0:1521"};
    sockaddr_in address{};
    std::memcpy(&address, to.get(), sizeof address);
    Syn syn;
    syn.ip.version = 4;
    syn.ip.ihl = 5;
    syn.ip.ttl = 64;
    syn.ip.protocol = IPPROTO_TCP;
    syn.ip.daddr = address.sin_addr.s_addr;
    syn.tcp.source = htons(40000);
    syn.tcp.dest = htons(1521);
    syn.tcp.doff = 5;
    syn.tcp.syn = 1;
    address.sin_port = 0;
    std::array<double, 5> turns;
    for (double& turn : turns) {
      const auto start = Clock::now();
      for (int i = 0; i < kSyns; ++i) {
        if (::sendto(fd, &syn, sizeof syn, 0, reinterpret_cast<const sockaddr*>(&address), sizeof address) <
            0) {
          std::perror("sendto");
        }
      }
      turn = std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kSyns;
    }
    ::close(fd);
    return *std::min_element(turns.begin(), turns.end());
  });
}

void measure(const lab::InlineLab& lab, int count, bool by_address, double bare) {
  given::Host host{policies(count, by_address)};
  host.settings.intercept.interfaces = {"wan0"};
  const std::string text = render_nft(host.plan());
  const auto start = Clock::now();
  lab.middle.run([&host] { apply_diversion(host.plan()); });
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::printf("%6d policies, %s: nft -f %.3f s, +%.0f ns a SYN\n", count,
              by_address ? "by address" : "walked", seconds, nanoseconds_each(lab) - bare);
}

}  // namespace

int main() {
  const lab::InlineLab lab;
  lab.middle.command({"nft", "-f", "-"},
                     "table inet cost {\n chain f {\n type filter hook forward priority 0; policy drop;\n }\n"
                     " chain c {\n type filter hook prerouting priority 0;\n ct state new\n }\n}\n");
  lab.middle.ip("route add 198.18.16.0/20 via 198.18.2.2\nroute add 198.18.32.0/19 via 198.18.2.2");
  const double bare = nanoseconds_each(lab);
  std::printf("without rules: %.0f ns a SYN\n", bare);
  for (const int count : {1, 10, 1'000, 10'000}) {
    measure(lab, count, true, bare);
    measure(lab, count, false, bare);
  }
}
