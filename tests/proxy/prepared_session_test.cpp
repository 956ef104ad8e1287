// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions whose server leg was connected before their client was accepted.
#include "proxy/socket.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tests/proxy/waiting.hpp"
#include "tests/proxy/worker_rig.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

// This process's own: other tests may run beside.
std::string client_place() {
  const auto pid = static_cast<unsigned>(::getpid());
  return "127.77." + std::to_string(pid >> 8 & 0xff) + "." + std::to_string(pid & 0xff) + ":28514";
}

Endpoint server_of(const WorkerRig& rig) {
  return {IpAddress::v4({127, 0, 0, 1}), rig.listener.local_port()};
}

ServerLeg connect_leg(const WorkerRig& rig, const LegTreatment& treatment) {
  ServerLegSpec spec;
  spec.to = {server_of(rig)};
  spec.treatment = &treatment;
  Result<ServerLeg> leg = start_connecting(spec, nullptr);
  REQUIRE(leg);
  return std::move(*leg);
}

// As a verifier would, for the client that comes from client_place().
void prepare(WorkerRig& rig, ServerLeg leg, const SharedTreatment& server_leg) {
  Decision decision;
  decision.policy = "verified";
  decision.client_leg = make_treatment("client", Profile{}, Side::client);
  decision.server_leg = server_leg;
  const Flow flow{{*parse_endpoint(client_place())}, {server_of(rig)}};
  REQUIRE(rig.admission.admit(flow.client.value.address) == Admission::Verdict::admitted);
  rig.prepared.put(flow, 1, {std::move(leg), std::make_shared<const Decision>(std::move(decision))},
                   Instant::max());
}

lab::Socket connect_client(const WorkerRig& rig) {
  lab::SocketOptions options;
  options.bind = client_place();
  return lab::Socket::connect(print(rig.at), options);
}

// Of a server that said "no" and reset it; SO_ERROR is asked, as the verifier does.
ServerLeg reset_leg(const WorkerRig& rig, const LegTreatment& treatment) {
  ServerLeg leg = connect_leg(rig, treatment);
  lab::Socket server = rig.listener.accept();
  server.send_all("no");
  REQUIRE(eventually([&] { return server.unacknowledged() == 0; }));
  server.reset();
  REQUIRE(eventually([&] { return pending_error(leg.socket) != 0; }));
  return leg;
}

// The reset may come before connect() has returned: then nobody learns of the bytes before it.
lab::Received hear_all(const WorkerRig& rig) {
  try {
    return connect_client(rig).receive_to_end();
  } catch (const std::system_error& error) {
    return {"", error.code().value() == ECONNRESET ? lab::End::reset : lab::End::other};
  }
}

}  // namespace

TEST_CASE("session: a client gets the leg that was prepared for it, and what has come there") {
  WorkerRig rig;
  const auto treatment = make_treatment("server", Profile{}, Side::server);
  ServerLeg leg = connect_leg(rig, *treatment);
  lab::Socket server = rig.listener.accept();
  server.send_all("220 ready");
  prepare(rig, std::move(leg), treatment);
  const WorkerRig::Session session{connect_client(rig), std::move(server)};
  CHECK(session.client.receive_exactly(9).bytes == "220 ready");
  CHECK(exchange(session));
  CHECK_FALSE(rig.listener.try_accept(std::chrono::seconds{0}));
}

TEST_CASE("session: a prepared leg that was reset, and asked why, is heard to its end and reset") {
  WorkerRig rig;
  const auto treatment = make_treatment("server", Profile{}, Side::server);
  constexpr std::uint64_t kRounds = 20;
  int told = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    prepare(rig, reset_leg(rig, *treatment), treatment);
    const lab::Received heard = hear_all(rig);
    CHECK(heard.end == lab::End::reset);
    if (heard.bytes == "no") ++told;
    REQUIRE(rig.has_closed(CloseReason::server_reset, round));
  }
  CHECK(told > 0);
}

}  // namespace headrace
