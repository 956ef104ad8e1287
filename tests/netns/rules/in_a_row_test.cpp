// SPDX-License-Identifier: GPL-3.0-or-later
// A path that meets headrace twice, or leaves a host where it came in.
#include "tests/netns/daemon.hpp"
#include "tests/netns/rules/far_host.hpp"
#include "tests/netns/rules/traffic.hpp"
#include "tests/test.hpp"

using namespace headrace;

namespace {

// A second daemon, in the lab's server, which is the router of a host behind it.
class SecondDaemon {
 public:
  explicit SecondDaemon(const lab::InlineLab& lab) : where_{lab.server} {
    const std::string here = directory_.path().string();
    directory_.write("headrace.toml",
                     "policy_files = \"policies.d/*.toml\"\nworkers = 1\n[intercept]\nstate_file = \"" +
                         here + "/net.json\"\ninterfaces = [\"eth0\"]\n[admin]\nsocket = \"" + here +
                         "/admin.sock\"\nstate_directory = \"" + here + "/state\"\n");
    directory_.write("policies.d/10-test.toml", "[[policy]]\nname = \"second\"\nto = [\"any\"]\n");
    where_.command(line({"net", "up"}));
    process_.emplace(where_, line({"run"}));
    if (!process_->wait_for_output("ready workers=", std::chrono::seconds{20}))
      throw std::runtime_error{"the second daemon is not ready:\n" + process_->output()};
  }
  int accepted() const {
    return nlohmann::json::parse(where_.command(line({"status", "--json"})))["counters"]["accepted"];
  }

 private:
  std::vector<std::string> line(std::vector<std::string> words) const {
    words.insert(words.begin(), HEADRACE_PROGRAM);
    words.insert(words.end(), {"-c", directory_ / "headrace.toml"});
    return words;
  }

  const lab::Namespace& where_;
  lab::TempDir directory_;
  std::optional<lab::Process> process_;
};

// A host behind the lab's client, which is its router and sends to the middle whatever comes from it.
struct Neighbour {
  Neighbour(const lab::InlineLab& lab, int number)
      : net4{"198.18." + std::to_string(number) + "."},
        net6{"2001:db8:" + std::to_string(number) + "::"},
        host{"near" + std::to_string(number)},
        hop{{lab.client, host_device(number), {net4 + "1/24", net6 + "1/64"}},
            {host, "eth0", {net4 + "2/24", net6 + "2/64"}}} {
    host.ip("route add default via " + net4 + "1\nroute add default via " + net6 + "1");
    lab.middle.ip("route add " + net4 + "0/24 via 198.18.1.2\nroute add " + net6 + "/64 via 2001:db8:1::2");
    for (const char* family : {"-4", "-6"})
      lab.client.command({"ip", family, "rule", "add", "iif", host_device(number), "lookup", "9"});
  }
  static std::string host_device(int number) { return "near" + std::to_string(number); }

  std::string net4;
  std::string net6;
  lab::Namespace host;
  lab::Veth hop;
};

void route_by_the_middle(const lab::Namespace& router) {
  router.sysctl("net.ipv4.ip_forward", "1");
  router.sysctl("net.ipv6.conf.all.forwarding", "1");
  router.ip("route add default via 198.18.1.1 table 9\nroute add default via 2001:db8:1::1 table 9");
}

void check_session(const lab::Namespace& client, const lab::Socket& listener) {
  INFO(listener.local());
  auto from = lab::Socket::connect(client, listener.local());
  const Conversation session{std::move(from), listener.accept()};
  CHECK(speaks(session));
  CHECK(session.server.peer() == session.client.local());
  CHECK(session.client.peer() == listener.local());
  CHECK(carries(session.client, session.server, 300'000));
  CHECK(carries(session.server, session.client, 300'000));
  session.client.shutdown_write();
  CHECK(session.server.receive_to_end().end == lab::End::end_of_stream);
  session.server.shutdown_write();
  CHECK(session.client.receive_to_end().end == lab::End::end_of_stream);
}

}  // namespace

TEST_CASE("rules: two on one path both relay, and both ends keep their addresses") {
  const lab::InlineLab lab;
  const FarHost far{lab, FarHost::Behind::server};
  const Daemon first{lab};
  const SecondDaemon second{lab};
  for (const bool ipv6 : {false, true})
    check_session(lab.client, lab::Socket::listen(far.host(), lab::endpoint(far.address(ipv6), 5000)));
  CHECK(first.status()["counters"]["accepted"] == 2);
  CHECK(second.accepted() == 2);
}

TEST_CASE(
    "rules: of two on one path each leaves a failed server to the other, and the third try is refused") {
  const lab::InlineLab lab;
  const FarHost far{lab, FarHost::Behind::server};
  const Daemon first{lab};
  const SecondDaemon second{lab};
  const std::string place = lab::endpoint(far.address(false), 5001);
  const auto end_of_try = [&] {
    const auto attempt = lab::Socket::try_connect(lab.client, place);
    return attempt.end == lab::End::done ? attempt.socket.receive_to_end().end : attempt.end;
  };
  // The second has accepted what the first brings, and resets it: to the first that is a server's reset.
  CHECK(end_of_try() == lab::End::reset);
  // Now the second leaves it to the kernel: the first is refused.
  CHECK(end_of_try() == lab::End::reset);
  CHECK(end_of_try() == lab::End::refused);
  CHECK(first.status()["counters"]["accepted"] == 2);
  CHECK(second.accepted() == 1);
}

TEST_CASE(
    "rules: client and server behind one interface have their sessions, and none of it is taken twice") {
  const lab::InlineLab lab;
  const Neighbour client{lab, 5};
  const Neighbour server{lab, 6};
  route_by_the_middle(lab.client);
  DaemonSettings settings;
  settings.intercept = "interfaces = [\"wan0\", \"lan0\"]\n";
  const Daemon daemon{lab, settings};
  for (const std::string& net : {server.net4, server.net6})
    check_session(client.host, lab::Socket::listen(server.host, lab::endpoint(net + "2", 5000)));
  CHECK(daemon.status()["counters"]["accepted"] == 2);
}

// The server's router sends what is for this network back to the middle, by an interface that is intercepted.
TEST_CASE("rules: a session whose server leg is routed back here brings no further one") {
  const lab::InlineLab lab;
  lab.middle.ip("route add 198.18.7.0/24 via 198.18.2.2");
  lab.server.ip("route add 198.18.7.0/24 via 198.18.2.1");
  lab.server.sysctl("net.ipv4.ip_forward", "1");
  DaemonSettings settings;
  settings.intercept = "interfaces = [\"wan0\", \"lan0\"]\n";
  settings.more = "[timeouts]\nconnect = \"1s\"\n";
  settings.policies = "[[policy]]\nname = \"all\"\nto = [\"any\"]\nconnect_as = \"" +
                      std::string{GENERATE("client", "client-address", "proxy")} + "\"\n";
  INFO(settings.policies);
  const Daemon daemon{lab, settings};
  const auto attempt = lab::Socket::try_connect(lab.client, "198.18.7.1:5000");
  const auto end = attempt.end == lab::End::done ? attempt.socket.receive_to_end().end : attempt.end;
  CHECK(end == lab::End::reset);
  const auto status = daemon.status();
  INFO(status.dump(2));
  CHECK(status["counters"]["accepted"] == 1);
  CHECK(status["sessions"] == 0);
}
