// SPDX-License-Identifier: GPL-3.0-or-later
// Past fs.pipe-user-pages-soft a user without CAP_SYS_RESOURCE gets pipes of two pages.
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/netns/exhaustion/crowd.hpp"
#include "tests/netns/sessions/through.hpp"
#include "tests/test.hpp"

using namespace headrace;
using namespace std::chrono_literals;

namespace {

constexpr uid_t kUser = 64'518;  // nobody else's, so that all of its pipes are this test's
constexpr int kMostPipes = 4'000;

// Another process of that user, which has taken all pages that pipes may have.
class Hog {
 public:
  Hog() {
    int ready[2];
    lab::checked(::pipe2(ready, O_CLOEXEC), "pipe2");
    process_ = lab::checked(::fork(), "fork");
    if (process_ == 0) take_all(ready[1]);
    ::close(ready[1]);
    const lab::Handle told{ready[0]};
    REQUIRE(lab::wait_for(told.get(), POLLIN, lab::Deadline{20s}));
  }
  ~Hog() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;

 private:
  [[noreturn]] static void take_all(int ready) {
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kUser, kUser, kUser) != 0 ||
        ::setresuid(kUser, kUser, kUser) != 0)
      ::_exit(1);
    int ends[2];
    for (int n = 0; n < kMostPipes && ::pipe(ends) == 0; ++n)
      if (::fcntl(ends[0], F_GETPIPE_SZ) < 64 * 1024) break;
    static_cast<void>(!::write(ready, "x", 1));
    for (;;) ::pause();
  }
  pid_t process_ = -1;
};

lab::Process forward(const lab::InlineLab& lab, const lab::TempDir& directory) {
  const std::string user = std::to_string(kUser);
  return lab::Process{lab.middle,
                      {"setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups",
                       "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs",
                       program_for_anybody(directory), "forward", "198.18.1.1:5001", "198.18.2.2:5001"}};
}

std::string carried_wrong(const lab::InlineLab& lab) {
  const auto listener = lab::Socket::listen(lab.server, "198.18.2.2:5001");
  const auto client = lab::Socket::connect(lab.client, "198.18.1.1:5001");
  const auto server = listener.accept();
  const std::string bytes = lab::pattern(8'000'000);
  for (const auto& [from, to] : {std::pair{&client, &server}, std::pair{&server, &client}}) {
    const std::jthread sender{[&, from = from] { from->send_all(bytes, 30s); }};
    if (to->receive_exactly(bytes.size(), 30s).bytes != bytes) return "not all arrived, or not as it was";
  }
  return "";
}

}  // namespace

TEST_CASE("pipes: without pages for them bulk is copied, whole, with pages again it is spliced again") {
  raise_own_descriptor_limit();
  const lab::InlineLab lab;
  const lab::TempDir directory;
  const lab::Process forwarder = forward(lab, directory);
  REQUIRE(forwarder.wait_for_output(" ready ", 20s));
  const std::size_t before = pipes_of(forwarder.pid());
  {
    const Hog hog;
    for (int n = 0; n < 5; ++n) CHECK(carried_wrong(lab) == "");
    CHECK(pipes_of(forwarder.pid()) == before);
  }
  CHECK(eventually([&] { return carried_wrong(lab).empty() && pipes_of(forwarder.pid()) > before; }, 30s));
}
