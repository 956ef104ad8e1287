// SPDX-License-Identifier: GPL-3.0-or-later
// A mark for an end that does not read, whose window is closed: the kernel tells it by SIGURG all the same,
// as far as the urgent pointer reaches.
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>

#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr int kDirect = 5009;

// SIGURG for one socket, as its application would get it.
class UrgentSignal {
 public:
  explicit UrgentSignal(const lab::Socket& socket) {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    ::pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    signals_ = lab::Handle{lab::checked(::signalfd(-1, &urgent, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")};
    const f_owner_ex owner{F_OWNER_TID, ::gettid()};
    while (came(0ns)) {
    }
    lab::checked(::fcntl(socket.descriptor(), F_SETOWN_EX, &owner), "F_SETOWN_EX");
  }
  // And is taken, so that the next one is another.
  bool came(std::chrono::nanoseconds within) const {
    signalfd_siginfo taken{};
    return lab::wait_for(signals_.get(), POLLIN, lab::Deadline{within}) &&
           ::read(signals_.get(), &taken, sizeof taken) == sizeof taken;
  }

 private:
  lab::Handle signals_;
};

Ends blocked_ends(const lab::InlineLab& lab, int port) {
  lab::SocketOptions options;
  options.urgent_inline = true;
  options.receive_buffer = 8 * 1024;
  options.send_buffer = 512 * 1024;
  return connect_ends(lab, lab::endpoint(lab::kServer4, port), options, options);
}

void check_break(const lab::Socket& from, const lab::Socket& to) {
  const UrgentSignal signal{to};
  const std::string before = lab::pattern(60'000);
  REQUIRE(from.send_all(before) == lab::End::done);
  CHECK_FALSE(signal.came(500ms));
  from.send_urgent('!');
  CHECK(signal.came(10s));
  REQUIRE(from.send_all("after") == lab::End::done);
  std::string heard;
  std::size_t mark = 0;
  while (heard.size() < before.size() + 6 && to.wait_for_data(10s)) {
    const bool at_mark = to.at_mark();
    if (at_mark) mark = heard.size();
    heard += to.receive_some(at_mark ? 1 : 64 * 1024).bytes;
  }
  CHECK(heard == before + "!after");
  CHECK(mark == before.size());
}

}  // namespace

TEST_CASE("urgent: a break is told to an end that does not read and whose window is closed, both ways") {
  const lab::InlineLab lab;
  const std::string small = leg("send_buffer = \"8KiB\"", "lan");
  const std::string limited = leg("unsent_limit = \"4KiB\"", "lan");
  const Daemon daemon{lab, with_policies(policy(5001, small, small) + policy(5002, limited, limited) +
                                         policy(5003, "\"lan\"", "\"lan\""))};
  for (const int port : {kDirect, 5001, 5002, 5003}) {
    INFO("port " << port);
    const Ends to_server = blocked_ends(lab, port);
    check_break(to_server.client, to_server.server);
    const Ends to_client = blocked_ends(lab, port);
    check_break(to_client.server, to_client.client);
  }
}
