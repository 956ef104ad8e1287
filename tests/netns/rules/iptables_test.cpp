// SPDX-License-Identifier: GPL-3.0-or-later
#include <csignal>

#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

DaemonSettings with_iptables() {
  DaemonSettings settings;
  settings.intercept = "firewall = \"iptables\"\ninterfaces = [\"wan0\"]\n";
  return settings;
}

bool has_rules(const lab::InlineLab& lab) {
  const std::string saved = lab.middle.command({"iptables-save"}) + lab.middle.command({"ip6tables-save"});
  return saved.find("HEADRACE") != std::string::npos;
}

}  // namespace

TEST_CASE("rules: the iptables form works, and is gone when the daemon has stopped") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  for (const int signal : {SIGTERM, SIGINT}) {
    INFO("signal " << signal);
    CHECK(way_of_new_flows(lab, listeners) == "through");
    CHECK(has_rules(lab));
    daemon.signal(signal);
    CHECK(daemon.wait() == lab::ExitStatus{0, 0});
    CHECK_FALSE(has_rules(lab));
    CHECK(way_of_new_flows(lab, listeners) == "direct");
    daemon.start();
  }
}

TEST_CASE("rules: after kill -9 `net down` takes the iptables form out, and flows go direct") {
  const lab::InlineLab lab;
  Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  const auto session = converse(lab, listeners.front());
  CHECK(speaks(session));
  daemon.kill();
  CHECK(session.client.receive_to_end().end == lab::End::reset);
  daemon.command({"net", "down"});
  CHECK_FALSE(has_rules(lab));
  CHECK(way_of_new_flows(lab, listeners) == "direct");
}

TEST_CASE("rules: the iptables form sends new flows direct under bypass, and keeps the server's view") {
  const lab::InlineLab lab;
  const Daemon daemon{lab, with_iptables()};
  const auto listeners = listen_in_both(lab);
  const auto session = converse(lab, listeners.back());
  CHECK(session.server.peer() == session.client.local());
  daemon.command({"bypass", "on"});
  CHECK(way_of_new_flows(lab, listeners) == "direct");
  CHECK(speaks(session));
  daemon.command({"bypass", "off"});
  CHECK(way_of_new_flows(lab, listeners) == "through");
  CHECK(speaks(session));
}

TEST_CASE("rules: a mark that packets bring along survives the iptables form, and so do both legs") {
  lab::InlineLabSettings links;  // translate sequence numbers: without its zone a leg is invalid
  links.client_link.emplace();
  links.server_link.emplace();
  const lab::InlineLab lab{links};
  const Daemon daemon{lab, with_iptables()};
  for (const char* tool : {"iptables", "ip6tables"}) {
    lab.middle.command({tool, "-t", "raw", "-I", "PREROUTING", "1", "-j", "MARK", "--set-xmark", "0x5/0xf"});
    lab.middle.command({tool, "-A", "INPUT", "-m", "conntrack", "--ctstate", "INVALID", "-j", "DROP"});
    lab.middle.command({tool, "-A", "INPUT", "-p", "tcp", "-m", "mark", "!", "--mark", "0x5/0xf"});
  }
  for (const auto& listener : listen_in_both(lab)) {
    const auto session = converse(lab, listener);
    INFO(listener.local());
    CHECK(is_through(lab, session));
    CHECK(carries(session.client, session.server, 100'000));
    CHECK(carries(session.server, session.client, 100'000));
  }
  for (const char* tool : {"iptables-save", "ip6tables-save"}) {
    const std::string saved = lab.middle.command({tool, "-c", "-t", "filter"});
    INFO(saved);
    CHECK(saved.find("[0:0] -A INPUT -p tcp -m mark ! --mark 0x5/0xf") != std::string::npos);
    CHECK(saved.find("[0:0] -A INPUT -m conntrack --ctstate INVALID -j DROP") != std::string::npos);
  }
}
