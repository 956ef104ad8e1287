// SPDX-License-Identifier: GPL-3.0-or-later
// Hours of a session, told to it: its time is an argument.
#include <fcntl.h>

#include <csignal>

#include "proxy/session.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// A worker of one session, without a thread: it turns when the test says so.
class StillHost final : public SessionHost, public TurnHooks {
 public:
  explicit StillHost(const TimeoutSettings& timeouts) : timeouts_{timeouts} {
    ::signal(SIGPIPE, SIG_IGN);
    loop_.set_hooks(this);
  }
  // Turns the loop until `done`, for 10 s at most.
  bool run_until(const std::function<bool()>& done) {
    return eventually([&] {
      loop_.run();  // one turn
      return done();
    });
  }
  Instant earliest_deadline() const { return deadline_; }
  bool has_ended() const { return has_ended_; }

  Loop& loop() override { return loop_; }
  WorkerResources& resources() override { return resources_; }
  const TimeoutSettings& timeouts() const override { return timeouts_; }
  const FailedCall& failed_call() override { return failed_call_; }
  void wake_at(Session&, Instant deadline) override { deadline_ = std::min(deadline_, deadline); }
  void run_again(Session&) override {}
  void ended(Session&) override { has_ended_ = true; }
  void server_failed(const Flow&) override {}

  Instant next_deadline() noexcept override { return Clock::now() + 1ms; }
  void turn_began(Instant now) noexcept override { resources_.now = now; }
  void turn_ended(Instant) noexcept override { loop_.stop(); }

 private:
  TimeoutSettings timeouts_;
  FailedCall failed_call_;
  MemoryBudget budget_{1 << 20};
  WorkerResources resources_{budget_, 1};
  Loop loop_;
  Instant deadline_ = Instant::max();
  bool has_ended_ = false;
};

std::shared_ptr<const Decision> plain() {
  Decision decision;
  decision.policy = "test";
  decision.client_leg = make_treatment("plain", Profile{}, Side::client);
  decision.server_leg = make_treatment("plain", Profile{}, Side::server);
  return std::make_shared<const Decision>(decision);
}

// Both ends and the session between them, the client having finished.
struct HalfClosed {
  explicit HalfClosed(const TimeoutSettings& timeouts) : host{timeouts} {
    spec.to = OriginalDestination{{IpAddress::v4({127, 0, 0, 1}), for_server.local_port()}};
    spec.treatment = decision->server_leg.get();
    session.start(spec);
    server.emplace(for_server.accept());
    client.shutdown_write();
    REQUIRE(host.run_until([&] { return server->wait_for_data(1ms); }));
    REQUIRE(server->receive_to_end().end == lab::End::end_of_stream);
  }
  ~HalfClosed() {
    if (!host.has_ended()) session.stop(CloseReason::stopped);
  }
  HalfClosed(const HalfClosed&) = delete;
  HalfClosed& operator=(const HalfClosed&) = delete;

  lab::Socket for_client = lab::Socket::listen("127.0.0.1:0");
  lab::Socket for_server = lab::Socket::listen("127.0.0.1:0");
  lab::Socket client = lab::Socket::connect(for_client.local());
  std::optional<lab::Socket> server;
  std::shared_ptr<const Decision> decision = plain();
  ServerLegSpec spec;
  StillHost host;
  Session session{host,
                  1,
                  Fd{lab::checked(::fcntl(for_client.accept().descriptor(), F_DUPFD_CLOEXEC, 0), "dup")},
                  Flow{},
                  Origin::forward,
                  decision};
};

}  // namespace

TEST_CASE("session: half closed and silent for hours it lives, and the answer still passes") {
  HalfClosed half{{}};
  CHECK(half.host.earliest_deadline() == Instant::max());
  for (const auto hours : {1h, 24h, 1000h}) half.session.tick(Clock::now() + hours);
  REQUIRE(half.session.phase() == Session::Phase::relaying);
  half.server->send_all("late answer");
  half.server->shutdown_write();
  CHECK(half.host.run_until([&] { return half.host.has_ended(); }));
  CHECK(half.client.receive_exactly(11).bytes == "late answer");
  CHECK(half.session.summary().reason == CloseReason::client_fin);
}

TEST_CASE("session: timeouts.half_closed of two hours ends it after two hours and not after one") {
  TimeoutSettings timeouts;
  timeouts.half_closed = 2h;
  HalfClosed half{timeouts};
  CHECK(half.host.earliest_deadline() > Clock::now() + 1h);
  half.session.tick(Clock::now() + 1h);
  CHECK(half.session.phase() == Session::Phase::relaying);
  half.session.tick(Clock::now() + 2h);
  REQUIRE(half.host.has_ended());
  CHECK(half.session.summary().reason == CloseReason::half_closed_timeout);
}

}  // namespace headrace
