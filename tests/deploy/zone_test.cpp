// SPDX-License-Identifier: GPL-3.0-or-later
// Both legs of a session through one conntrack, between hosts that number their segments independently.
#include <netinet/in.h>
#include <sys/socket.h>

#include <sstream>
#include <string>

#include "bench/lab/handle.hpp"
#include "bench/lab/inline_lab.hpp"
#include "bench/lab/socket.hpp"
#include "bench/lab/socket_address.hpp"
#include "bench/lab/temp_dir.hpp"
#include "deploy/net_apply.hpp"
#include "tests/deploy/given.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

const std::string kServer4 = "198.18.2.2:5000";
const std::string kServer6 = "[2001:db8:2::2]:5000";

const char* const kStrictFirewall = R"(table inet strict {
  chain in {
    type filter hook input priority filter; policy accept;
    ct state invalid counter drop
  }
  chain through {
    type filter hook forward priority filter; policy accept;
    ct state invalid counter drop
  }
  chain out {
    type filter hook output priority filter; policy accept;
    ct state invalid counter drop
  }
}
)";

lab::InlineLabSettings translating_links() {
  lab::InlineLabSettings settings;
  settings.client_link.emplace();
  settings.server_link.emplace();
  return settings;
}

struct Box {
  explicit Box(Firewall firewall) : given{{{{}, {"any"}, {}}}} {
    given.settings.intercept.interfaces = {"wan0"};
    given.settings.intercept.firewall = firewall;
    lab.middle.command({"nft", "-f", "-"}, kStrictFirewall);
    lab.middle.run([this] {
      net_up(plan_host(given.settings, true), dir / "net.json");
      apply_diversion(given.plan());
    });
  }
  lab::Socket listen(const std::string& at) const {
    lab::SocketOptions options;
    options.transparent = true;
    return lab::Socket::listen(lab.middle, at, options);
  }
  // The server leg as the daemon makes it: marked; from the client's endpoint, or from our own address.
  lab::Socket connect(const std::string& to, const std::string& as_client) const {
    return lab.middle.run([&] {
      const lab::SocketAddress server{to};
      lab::Handle fd{lab::checked(::socket(server.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket")};
      lab::Socket leg{std::move(fd)};
      leg.set_option(SOL_SOCKET, SO_MARK, static_cast<int>(given.settings.intercept.mark.server_mark()));
      leg.set_option(SOL_SOCKET, SO_REUSEADDR, 1);
      if (!as_client.empty()) {
        const lab::SocketAddress client{as_client};
        leg.set_option(SOL_IP, IP_TRANSPARENT, 1);
        lab::checked(::bind(leg.descriptor(), client.get(), client.size()), "bind");
      }
      lab::checked(::connect(leg.descriptor(), server.get(), server.size()), "connect");
      return leg;
    });
  }

  lab::InlineLab lab{translating_links()};
  lab::TempDir dir;
  given::Host given;
};

void exchange(const lab::Socket& from, const lab::Socket& to) {
  const std::string bytes = lab::pattern(100'000);
  CHECK(from.send_all(bytes) == lab::End::done);
  CHECK(to.receive_exactly(bytes.size()).bytes == bytes);
}

int dropped(const Box& box) {
  std::istringstream words{box.lab.middle.command({"nft", "list", "table", "inet", "strict"})};
  int packets = 0;
  for (std::string word; words >> word;) {
    if (word != "packets") continue;
    words >> word;
    packets += std::stoi(word);
  }
  return packets;
}

TEST_CASE("zone: both legs live through a firewall that drops what conntrack calls invalid") {
  const Box box{GENERATE(Firewall::nft, Firewall::iptables)};
  const bool is_v4 = GENERATE(true, false);
  const std::string to = is_v4 ? kServer4 : kServer6;
  const bool as_client = GENERATE(true, false);
  INFO(to << (as_client ? " as the client" : " as the proxy"));
  const auto server = lab::Socket::listen(box.lab.server, to);
  const auto listener = box.listen(is_v4 ? "127.0.0.1:18500" : "[::1]:18500");
  const auto client = lab::Socket::connect(box.lab.client, to);
  const auto client_leg = listener.accept();
  const auto server_leg = box.connect(to, as_client ? client_leg.peer() : "");
  const auto at_server = server.accept();
  if (as_client) CHECK(at_server.peer() == client.local());
  exchange(client, client_leg);
  exchange(client_leg, client);
  exchange(server_leg, at_server);
  exchange(at_server, server_leg);
  CHECK(dropped(box) == 0);
}

TEST_CASE("conntrack: a direct flow that takes over the entry of a reset session is not taken") {
  Box box{GENERATE(Firewall::nft, Firewall::iptables)};
  const auto port = std::string{"198.18.1.2:40555"};
  lab::SocketOptions same_port;
  same_port.bind = port;
  const auto server = lab::Socket::listen(box.lab.server, kServer4);
  {
    const auto listener = box.listen("127.0.0.1:18500");
    const auto client = lab::Socket::connect(box.lab.client, kServer4, same_port);
    auto leg = listener.accept();
    leg.reset();
    CHECK(client.receive_to_end().end == lab::End::reset);
  }
  // The iptables form drops new flows without a listener: it is removed, as the service unit does.
  box.given.diversion = Diversion::sessions;
  box.lab.middle.run([&box] { apply_diversion(box.given.plan()); });
  const auto client = lab::Socket::connect(box.lab.client, kServer4, same_port);
  const auto at_server = server.accept();
  box.given.diversion = Diversion::on;
  const auto listener = box.listen("127.0.0.1:18500");
  box.lab.middle.run([&box] { apply_diversion(box.given.plan()); });
  exchange(client, at_server);
}

}  // namespace
}  // namespace headrace
