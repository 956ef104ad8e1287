// SPDX-License-Identifier: GPL-3.0-or-later
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <ctime>
#include <memory>

#include "bench/lab/socket_address.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// Leaves this process `free` descriptors until it goes. Check nothing meanwhile: the sanitizers need some
// too.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t free) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Fd lowest{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(lowest.get()) + free;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Sockets that have their descriptors before these get scarce.
class Clients {
 public:
  explicit Clients(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      sockets_.emplace_back(lab::Handle{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)});
  }
  void connect(const Endpoint& to) const {
    const lab::SocketAddress address{print(to)};
    for (const lab::Socket& socket : sockets_) ::connect(socket.descriptor(), address.get(), address.size());
  }
  std::size_t count_reset() const {
    std::size_t resets = 0;
    for (const lab::Socket& socket : sockets_) resets += socket.receive_to_end(5s).end == lab::End::reset;
    return resets;
  }

 private:
  std::vector<lab::Socket> sockets_;
};

// How many of so many clients were reset while there were `free` descriptors.
std::size_t resets_with(rlim_t free, const WorkerRig& rig, std::size_t count) {
  const Clients clients{count};
  const FewDescriptors few{free};
  clients.connect(rig.at);
  return clients.count_reset();
}

// A worker that has opened all that it keeps.
void warm_up(const WorkerRig& rig) {
  REQUIRE(exchange(rig.open_session()));
  REQUIRE(rig.has_live(0));
}

}  // namespace

TEST_CASE("worker: without a descriptor clients are reset at once and counted") {
  const WorkerRig rig;
  warm_up(rig);
  CHECK(resets_with(0, rig, 10) == 10);
  CHECK(eventually([&] { return rig.counters().shed == 10; }));
}

TEST_CASE("worker: without a descriptor for the server leg the client is reset") {
  const WorkerRig rig;
  warm_up(rig);
  CHECK(resets_with(1, rig, 1) == 1);
  CHECK(rig.has_closed(CloseReason::no_resources));
  CHECK(rig.counters().shed == 0);  // nobody else was in the queue
}

TEST_CASE("worker: descriptors that come back are used again") {
  const WorkerRig rig;
  warm_up(rig);
  REQUIRE(resets_with(0, rig, 5) == 5);
  CHECK(exchange(rig.open_session()));
}

TEST_CASE("worker: waiting for descriptors costs no processor time") {
  const WorkerRig rig;
  warm_up(rig);
  std::clock_t used = 0;
  {
    const Clients clients{5};
    const FewDescriptors few{0};
    clients.connect(rig.at);
    clients.count_reset();
    const std::clock_t before = std::clock();
    eventually([] { return false; }, 200ms);
    used = std::clock() - before;
  }
  CHECK(used < CLOCKS_PER_SEC / 10);
}

TEST_CASE("resources: without descriptors there is no pipe, and once they are back there is") {
  MemoryBudget budget{1000};
  const auto resources = std::make_unique<WorkerResources>(budget, 1);
  bool had_one = true;
  {
    const FewDescriptors few{1};  // a pipe takes two
    had_one = resources->take_pipe().has_value();
  }
  CHECK_FALSE(had_one);
  CHECK_FALSE(resources->take_pipe());  // it does not ask with every read
  resources->now += 1s;
  CHECK(resources->take_pipe());
}

}  // namespace headrace
