// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <filesystem>
#include <thread>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kRate = 100'000'000;  // bit/s
constexpr auto kRoundTrip = 40ms;
constexpr std::size_t kInFlight = kRate / 8 / 25;  // rate times round trip: what a window must hold

bool is_v4(const std::string& address) { return address == lab::kServer4 || address == lab::kMiddleWan4; }

// Of a SYN-ACK; both ends offer timestamps.
std::size_t window_of(std::size_t segments, const std::string& address) {
  return segments * (is_v4(address) ? 1448 : 1428);
}

lab::Packet syn_ack(const lab::Capture& at_client, int port) {
  const auto found =
      at_client.wait_for([=](const lab::Packet& p) { return p.syn && p.ack && p.from_port == port; }, 10s);
  REQUIRE(found);
  return *found;
}

lab::Packet syn_ack_of_new(const lab::InlineLab& lab, const std::string& place, int port) {
  const lab::Capture at_client{lab.client, "eth0"};
  const auto client = lab::Socket::connect(lab.client, place);
  return syn_ack(at_client, port);
}

// BPF programs that a process has attached.
std::size_t links_of(pid_t process) {
  const fs::path descriptors{"/proc/" + std::to_string(process) + "/fd"};
  return static_cast<std::size_t>(std::count_if(
      fs::directory_iterator{descriptors}, fs::directory_iterator{}, [](const fs::directory_entry& entry) {
        std::error_code gone;
        return fs::read_symlink(entry.path(), gone).string().find("bpf_link") != std::string::npos;
      }));
}

std::string few(int segments) { return leg("initial_receive_window = " + std::to_string(segments)); }

}  // namespace

TEST_CASE("leg settings: initial_receive_window is the first window that its own leg's peer hears") {
  const lab::InlineLab lab;
  const Daemon daemon{lab,
                      with_policies(policy(5001, few(4), "\"plain\"") + policy(5002, "\"plain\"", few(4)) +
                                    policy(5003, "\"plain\"", "\"plain\""))};
  for (const std::string address : {lab::kServer4, lab::kServer6}) {
    for (const int port : {5001, 5002, 5003}) {
      CAPTURE(address, port);
      const lab::Capture at_client{lab.client, "eth0"};
      const lab::Capture at_server{lab.server, "eth0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)));
      const auto syn =
          at_server.wait_for([=](const lab::Packet& p) { return p.syn && !p.ack && p.to_port == port; }, 10s);
      REQUIRE(syn);
      CHECK((syn->window == 4U * (is_v4(address) ? 1460U : 1440U)) == (port == 5002));
      CHECK((syn_ack(at_client, port).window == window_of(4, address)) == (port == 5001));
    }
  }
}

TEST_CASE(
    "leg settings: initial_receive_window of the client leg holds in redirect mode and for forwarders") {
  const lab::InlineLab lab;
  DaemonSettings settings = with_policies(policy(5001, few(5), "\"plain\""));
  settings.intercept = "mode = \"redirect\"\ninterfaces = [\"wan0\"]\n";
  settings.more =
      "[[forward]]\nlisten = \"198.18.1.1:6001\"\nto = \"198.18.2.2:5001\"\nclient_leg = " + few(6) +
      "\n[[forward]]\nlisten = \"[2001:db8:1::1]:6001\"\nto = \"[2001:db8:2::2]:5001\"\nclient_leg = " +
      few(6) + "\n";
  const Daemon daemon{lab, settings};
  for (const std::string address : {lab::kServer4, lab::kServer6}) {
    const auto server = lab::Socket::listen(lab.server, lab::endpoint(address, 5001));
    const std::string middle = is_v4(address) ? lab::kMiddleWan4 : lab::kMiddleWan6;
    CAPTURE(address);
    CHECK(syn_ack_of_new(lab, lab::endpoint(address, 5001), 5001).window == window_of(5, address));
    CHECK(syn_ack_of_new(lab, lab::endpoint(middle, 6001), 6001).window == window_of(6, address));
  }
}

// The filter that brings the window (proxy/bpf) is attached late then, by a process that has given up
// CAP_BPF.
TEST_CASE("leg settings: a reload may be the first to ask for an initial_receive_window of the client leg") {
  const lab::InlineLab lab;
  DaemonSettings settings = with_policies(policy(5001, "\"plain\"", "\"plain\""));
  settings.start = false;
  const Daemon files{lab, settings};
  const lab::Process daemon{lab.middle,
                            {"setpriv", "--bounding-set=-all,+bpf,+net_admin,+net_raw", HEADRACE_PROGRAM,
                             "run", "-c", files.file()}};
  REQUIRE(daemon.wait_for_output("ready workers=", 20s));
  const auto server = lab::Socket::listen(lab.server, "198.18.2.2:5001");
  CHECK(syn_ack_of_new(lab, "198.18.2.2:5001", 5001).window > window_of(7, lab::kServer4));
  CHECK(links_of(daemon.pid()) == 1);
  files.write_policies(policy(5001, few(7), "\"plain\""));
  files.command({"reload"});
  CHECK(syn_ack_of_new(lab, "198.18.2.2:5001", 5001).window == window_of(7, lab::kServer4));
  CHECK(links_of(daemon.pid()) == 2);
}

TEST_CASE(
    "leg settings: no client hears the first window of another listener, however many connect at once") {
  const lab::InlineLab lab;
  const Daemon daemon{lab,
                      with_policies(policy(5001, few(4), "\"plain\"") + policy(5002, few(9), "\"plain\"") +
                                    policy(5003, "\"plain\"", "\"plain\""))};
  constexpr int kThreads = 6, kEach = 30;
  const std::size_t segments[] = {4, 9, 0};
  std::vector<lab::Socket> servers;
  for (const int port : {5001, 5002, 5003})
    servers.push_back(lab::Socket::listen(lab.server, lab::endpoint(lab::kServer4, port)));
  const lab::Capture at_client{lab.client, "eth0"};
  {
    std::vector<std::jthread> clients;
    for (int thread = 0; thread < kThreads; ++thread)
      clients.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i)
          lab::Socket::connect(lab.client, lab::endpoint(lab::kServer4, 5001 + (thread + i) % 3));
      });
  }
  const auto answers = [](const lab::Packet& p) { return p.syn && p.ack; };
  REQUIRE(at_client.wait_for_count(kThreads * kEach, answers, 10s));
  for (const lab::Packet& answer : at_client.packets(answers)) {
    const std::size_t wanted = segments[answer.from_port - 5001];
    CAPTURE(answer.from_port, answer.window);
    CHECK((wanted == 0 ? answer.window > window_of(9, lab::kServer4)
                       : answer.window == window_of(wanted, lab::kServer4)));
  }
}

// Such a request has no listener for the kernel, so that nobody is asked.
TEST_CASE("leg settings: through a SYN cookie a client hears the kernel's own first window") {
  const lab::InlineLab lab;
  lab.middle.sysctl("net.ipv4.tcp_syncookies", "2");
  const Daemon daemon{lab, with_policies(policy(5001, few(4), "\"plain\""))};
  for (const std::string address : {lab::kServer4, lab::kServer6}) {
    CAPTURE(address);
    const lab::Capture at_client{lab.client, "eth0"};
    const Ends ends = connect_ends(lab, lab::endpoint(address, 5001));
    CHECK(syn_ack(at_client, 5001).window > window_of(9, address));
    REQUIRE(ends.client.send_all("ask") == lab::End::done);
    CHECK(ends.server.receive_exactly(3).bytes == "ask");
  }
}

TEST_CASE(
    "leg settings: after a small initial_receive_window an upload still gets a window that fills its path") {
  lab::InlineLabSettings wan;
  wan.client_link = lab::LinkSettings::round_trip(kRoundTrip, kRate, 2 * kInFlight);
  const lab::InlineLab lab{wan};
  const Daemon daemon{
      lab, with_policies(policy(5001, few(2), "\"plain\"") + policy(5002, "\"plain\"", "\"plain\""))};
  const std::string bytes = lab::pattern(10'000'000);
  lab::SocketOptions cubic;
  cubic.congestion = "cubic";
  for (const std::string address : {lab::kServer4, lab::kServer6}) {
    int scales[2] = {};
    for (const int port : {5001, 5002}) {
      CAPTURE(address, port);
      const lab::Capture at_client{lab.client, "eth0"};
      const Ends ends = connect_ends(lab, lab::endpoint(address, static_cast<std::uint16_t>(port)), cubic);
      const lab::Packet answer = syn_ack(at_client, port);
      REQUIRE(answer.window_scale);
      scales[port - 5001] = *answer.window_scale;
      std::jthread sender{[&] { ends.client.send_all(bytes, 30s); }};
      REQUIRE(ends.server.receive_exactly(bytes.size(), 30s).bytes == bytes);
      std::size_t largest = 0;
      for (const auto& p :
           at_client.packets([=](const lab::Packet& p) { return !p.syn && p.from_port == port; }))
        largest = std::max(largest, std::size_t{p.window} << *answer.window_scale);
      CHECK(largest >= kInFlight);
    }
    CHECK(scales[0] == scales[1]);
  }
}
