// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/environment.hpp"
#include "config/load.hpp"
#include "proxy/admin.hpp"
#include "proxy/admission.hpp"
#include "proxy/counters.hpp"
#include "proxy/diversion.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/leg_storage.hpp"
#include "proxy/listening.hpp"
#include "proxy/log.hpp"
#include "proxy/loop.hpp"
#include "proxy/prepared_legs.hpp"
#include "proxy/resources.hpp"
#include "proxy/verifier.hpp"
#include "proxy/worker.hpp"

namespace headrace {

// The daemon: workers, their listeners, the diversion, signals, reload and drain. Everything here runs on
// the main thread. Starting is the control zone (throws std::runtime_error, ConfigError); once run() is in
// its loop, whatever fails is logged and the daemon goes on with what it had.
//
// Life: starting -> serving -> draining (SIGTERM, `drain`: new flows pass by, live sessions go on to their
// ends or timeouts.drain) -> stopped. SIGINT and a second SIGTERM stop at once. SIGHUP reloads.
class Server final : public TurnHooks {
 public:
  struct Options {
    bool admin = true;  // the control socket; `headrace forward` has none
  };

  // `environment` is what a reload checks against; `storage` may be empty: no BPF.
  Server(std::shared_ptr<const Configuration> configuration, Environment environment,
         std::unique_ptr<const LegStorage> storage, Options options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void run();
  Counters::Snapshot counters() const;
  std::uint64_t accepted() const;  // whatever came to a listener, refused or not

 private:
  enum class Phase : std::uint8_t { starting, serving, draining, stopped };

  void start_workers();
  ClassPorts start_listening(const ListenerClasses& classes);
  void prepare_verifier(const Configuration& configuration);
  void start_diversion(ListenerClasses classes, ClassPorts ports);
  void say_ready();

  void on_signal(int number);
  std::vector<Problem> reload();  // the warnings; throws and keeps the old configuration when the new is bad
  void adopt(std::shared_ptr<const Configuration> configuration);
  void drain();
  void stop();
  void set_bypass(bool on);
  void set_diversion(DiversionControl::Reason reason, bool holds);
  std::string on_request(const std::string& verb, const std::string& argument);
  std::string status() const;
  void retire_listeners(Instant now);
  void check_drained(Instant now);
  void verify_diversion(Instant now);
  WorkerConfiguration worker_configuration() const;

  // TurnHooks
  Instant next_deadline() noexcept override;
  void turn_began(Instant) noexcept override {}
  void turn_ended(Instant now) noexcept override;

  std::shared_ptr<const Configuration> configuration_;
  Environment environment_;
  std::unique_ptr<const LegStorage> storage_;
  Options options_;
  bool ipv6_;
  Log log_;
  Loop loop_;
  Signals signals_;
  Wakeup overload_changed_;
  Wakeup worker_idle_;
  std::size_t descriptors_;
  MemoryBudget budget_;
  Admission admission_;
  ExpectedConnections expected_;
  Admission held_room_;  // for SYNs that are held and legs that wait
  PreparedLegs prepared_;
  FailedCall failed_listener_call_;
  std::vector<std::unique_ptr<Worker>> workers_;
  PortsByKey ports_by_key_;
  std::vector<Endpoint> places_;
  std::vector<Endpoint> forward_places_;  // theirs among them: they stay as they were opened
  std::unique_ptr<Verifier> verifier_;    // from the first configuration on in which a policy holds SYNs
  DiversionControl diversion_;
  BypassFile bypass_file_;
  std::optional<AdminServer> admin_;
  Phase phase_ = Phase::starting;
  std::atomic<bool> wants_idle_{false};  // draining: workers say when they have no session
  Instant retire_at_ = Instant::max();   // when to look again whether old listeners can go
  Instant retire_latest_ = Instant::max();
  Instant drain_deadline_ = Instant::max();
  Instant verify_at_ = Instant::max();
  Instant linger_at_ = Instant::max();  // when to look again whether the last bytes are delivered
  Instant linger_latest_ = Instant::max();
};

}  // namespace headrace
