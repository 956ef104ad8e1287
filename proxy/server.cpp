// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/server.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <thread>

#include "deploy/net_apply.hpp"
#include "proxy/privileges.hpp"

namespace headrace {
namespace {

// Old listeners are looked at this often while handshakes that they began are under way, and closed at the
// latest after a time in which any but a dead client has answered.
constexpr std::chrono::milliseconds kRetireInterval{20};
constexpr std::chrono::seconds kRetirePatience{3};
// How often the daemon looks whether its rules and the host's routing are still there: three small programs.
constexpr std::chrono::seconds kVerifyInterval{5};
// The last bytes of sessions that have ended are the kernel's to deliver; without our rules their ACKs might
// not come. A daemon that drains waits so long for them at the most.
constexpr std::chrono::seconds kLingerPatience{60};
constexpr std::chrono::milliseconds kLingerInterval{50};

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

std::size_t memory_ceiling(const LimitSettings& limits) {
  if (limits.memory) return limits.memory->count;
  const auto pages = static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 8;
}

unsigned worker_count(const Settings& settings) {
  return settings.workers.value_or(std::max(std::thread::hardware_concurrency(), 1U));
}

ListenerClasses classes_of(const Configuration& configuration) {
  if (!intercepts(configuration.settings)) return {};
  return group_into_classes(*configuration.policies);
}

// A tenth of the descriptors is left for pipes, two each (admission_limits).
std::size_t pipes_per_worker(std::size_t descriptors, unsigned workers) {
  return descriptors / 20 / workers + 1;
}

Admission::Limits held_limits(const LimitSettings& limits) {
  return {limits.held_syns, limits.held_syns, limits.held_syns_per_client, Overload::refuse};
}

}  // namespace

Server::Server(std::shared_ptr<const Configuration> configuration, Environment environment,
               std::unique_ptr<const LegStorage> storage, Options options)
    : configuration_{std::move(configuration)},
      environment_{std::move(environment)},
      storage_{std::move(storage)},
      options_{options},
      ipv6_{host_has_ipv6()},
      log_{configuration_->settings.log},
      signals_{loop_, {SIGTERM, SIGINT, SIGHUP}, [this](int number) { on_signal(number); }},
      overload_changed_{
          loop_, [this] { set_diversion(DiversionControl::Reason::overload, admission_.is_overloaded()); }},
      worker_idle_{loop_, [] {}},  // only turns the loop: turn_ended looks
      descriptors_{raise_descriptor_limit()},
      budget_{memory_ceiling(configuration_->settings.limits)},
      admission_{admission_limits(configuration_->settings.limits, descriptors_),
                 [this] { overload_changed_.wake(); }},
      held_room_{held_limits(configuration_->settings.limits), nullptr},
      prepared_{held_room_},
      failed_listener_call_{[this](const SocketCall& call, SystemError error) {
        log_.warning("listener: " + print(call) + " for " + std::string{call.key} + ": " + print(error));
      }},
      diversion_{ipv6_, [this] { return accepted(); }, expected_,
                 [this](bool taking) {
                   if (verifier_) verifier_->set_taking(taking);
                 }},
      bypass_file_{configuration_->settings.admin.state_directory + "/bypass"} {
  std::signal(SIGPIPE, SIG_IGN);
  loop_.set_hooks(this);
  start_workers();
  ListenerClasses classes = classes_of(*configuration_);
  ClassPorts ports = start_listening(classes);
  if (options_.admin) {
    admin_.emplace(
        loop_, log_, configuration_->settings.admin.socket,
        [this](const std::string& verb, const std::string& argument) { return on_request(verb, argument); });
  }
  start_diversion(std::move(classes), std::move(ports));
  phase_ = Phase::serving;
  verify_at_ = loop_.now() + kVerifyInterval;
}

WorkerConfiguration Server::worker_configuration() const {
  const Settings& settings = configuration_->settings;
  return {configuration_->policies, settings.timeouts, settings.busy_poll.value_or(Duration{0})};
}

void Server::start_workers() {
  const unsigned count = worker_count(configuration_->settings);
  const InterceptSettings& intercept = configuration_->settings.intercept;
  const WorkerEnvironment environment{log_,
                                      admission_,
                                      prepared_,
                                      budget_,
                                      expected_,
                                      pipes_per_worker(descriptors_, count),
                                      intercept.mark,
                                      storage_.get(),
                                      [this] {
                                        if (wants_idle_) worker_idle_.wake();
                                      }};
  for (unsigned i = 0; i < count; ++i)
    workers_.push_back(std::make_unique<Worker>(i, environment, worker_configuration()));
}

ClassPorts Server::start_listening(const ListenerClasses& classes) {
  const Settings& settings = configuration_->settings;
  Listening listening = open_class_listeners(settings, classes, {}, workers_.size(), ipv6_, storage_.get(),
                                             failed_listener_call_);
  const std::size_t of_classes = listening.places.size();
  open_forward_listeners(settings, workers_.size(), storage_.get(), failed_listener_call_, listening);
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->open(std::move(listening.per_worker[i]));
  ports_by_key_ = std::move(listening.ports_by_key);
  places_ = std::move(listening.places);
  forward_places_.assign(places_.begin() + static_cast<std::ptrdiff_t>(of_classes), places_.end());
  return std::move(listening.ports);
}

// Before the rules that fill its queue. Once there it stays: without such a policy nothing comes to it.
void Server::prepare_verifier(const Configuration& configuration) {
  const Settings& settings = configuration.settings;
  if (!verifier_ && !(intercepts(settings) && configuration.policies->has_verified())) return;
  const Verifier::Configuration wanted{configuration.policies, settings.timeouts};
  if (verifier_) return verifier_->configure(wanted);
  const Verifier::Environment environment{log_, prepared_, held_room_, settings.intercept.mark,
                                          storage_.get()};
  verifier_ = std::make_unique<Verifier>(environment, settings.intercept.queue, wanted);
}

// Last of all: who listens diverts, and not before.
void Server::start_diversion(ListenerClasses classes, ClassPorts ports) {
  const Settings& settings = configuration_->settings;
  if (!intercepts(settings)) return;
  const auto missing = net_differences(plan_host(settings, ipv6_));
  if (!missing.empty()) {
    std::string text = "the host is not prepared (run `headrace net up` first):";
    for (const std::string& one : missing) text += "\n  " + one;
    throw std::runtime_error{text};
  }
  diversion_.set(DiversionControl::Reason::operator_bypass, bypass_file_.is_on());
  prepare_verifier(*configuration_);
  diversion_.replace(configuration_, std::move(classes), std::move(ports));
}

void Server::run() {
  say_ready();
  loop_.run();
  for (const auto& worker : workers_) worker->stop();
  diversion_.remove();
}

void Server::say_ready() {
  const Settings& settings = configuration_->settings;
  for (const Problem& warning : configuration_->warnings) log_.warning(print(warning));
  for (const std::string& sentence : refused_settings(*configuration_->policies, ipv6_))
    log_.warning(sentence);
  std::string line = "ready workers=" + std::to_string(workers_.size()) +
                     " policies=" + std::to_string(configuration_->policies->policies().size()) +
                     " classes=" + std::to_string(ports_by_key_.size()) +
                     " forwards=" + std::to_string(settings.forwards.size());
  if (!intercepts(settings))
    line += " intercepting=nothing";
  else if (!diversion_.takes_new_flows())
    line += " intercepting=bypassed";
  else
    line += std::string{" intercepting="} +
            (settings.intercept.mode == InterceptMode::tproxy ? "tproxy" : "redirect");
  log_.info(line);
}

void Server::on_signal(int number) {
  if (number == SIGHUP) {
    try {
      reload();
    } catch (const std::exception& error) {
      log_.error(std::string{"reload refused, the old configuration stays: "} + error.what());
    }
    return;
  }
  if (phase_ == Phase::serving && number == SIGTERM) return drain();
  stop();
}

std::vector<Problem> Server::reload() {
  auto fresh = std::make_shared<const Configuration>(load_configuration(configuration_->file, environment_));
  const Settings& before = configuration_->settings;
  const Settings& after = fresh->settings;
  const bool same_host = before.intercept.mark == after.intercept.mark &&
                         before.intercept.table == after.intercept.table &&
                         before.intercept.queue == after.intercept.queue;
  if (intercepts(before) != intercepts(after) || before.intercept.mode != after.intercept.mode ||
      before.intercept.firewall != after.intercept.firewall || !same_host)
    throw std::runtime_error{
        "intercept: mode, firewall, mark, table, queue, and whether anything is intercepted need a restart"};
  const auto warnings = fresh->warnings;
  adopt(std::move(fresh));
  for (const Problem& warning : warnings) log_.warning(print(warning));
  log_.info("reloaded policies=" + std::to_string(configuration_->policies->policies().size()) +
            " classes=" + std::to_string(ports_by_key_.size()));
  return warnings;
}

// New listeners first, then the rules: until these are in, all or nothing, nobody knows of the new
// configuration. Old listeners go when nothing hangs on them.
void Server::adopt(std::shared_ptr<const Configuration> fresh) {
  const Settings& settings = fresh->settings;
  const ListenerClasses classes = classes_of(*fresh);
  Listening listening = open_class_listeners(settings, classes, ports_by_key_, workers_.size(), ipv6_,
                                             storage_.get(), failed_listener_call_);
  listening.places.insert(listening.places.end(), forward_places_.begin(), forward_places_.end());
  prepare_verifier(*fresh);
  if (intercepts(settings)) diversion_.replace(fresh, classes, listening.ports);
  configuration_ = std::move(fresh);
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->open(std::move(listening.per_worker[i]));
    workers_[i]->configure(worker_configuration());
  }
  log_.apply(settings.log);
  budget_.set_ceiling(memory_ceiling(settings.limits));
  admission_.apply(admission_limits(settings.limits, descriptors_));
  held_room_.apply(held_limits(settings.limits));
  overload_changed_.wake();  // new limits may have begun or ended an overload
  ports_by_key_ = std::move(listening.ports_by_key);
  places_ = std::move(listening.places);
  retire_at_ = loop_.now() + kRetireInterval;
  retire_latest_ = loop_.now() + kRetirePatience;
}

// Others flush rule sets and delete routing rules. Rules of ours that are gone are put in again; where the
// host has lost its routing rule, diverted packets would go nowhere, so no new flow is taken until it is
// back.
void Server::verify_diversion(Instant now) {
  verify_at_ = now + kVerifyInterval;
  if (!intercepts(configuration_->settings) || phase_ == Phase::starting || phase_ == Phase::stopped) return;
  try {
    if (const std::string said = diversion_.verify(); !said.empty()) log_.error("diversion: " + said);
  } catch (const std::exception& error) {
    log_.error(std::string{"diversion: "} + error.what());
  }
}

void Server::drain() {
  log_.info("draining sessions=" + std::to_string(admission_.live()));
  phase_ = Phase::draining;
  wants_idle_ = true;  // before admission_ is asked who is left
  set_diversion(DiversionControl::Reason::stopping, true);
  places_.clear();
  retire_at_ = loop_.now();
  retire_latest_ = loop_.now() + kRetirePatience;
  if (const auto& most = configuration_->settings.timeouts.drain) drain_deadline_ = loop_.now() + *most;
}

void Server::stop() {
  phase_ = Phase::stopped;
  loop_.stop();
}

void Server::set_diversion(DiversionControl::Reason reason, bool holds) {
  const bool is_new = diversion_.holds(reason) != holds;
  try {
    diversion_.set(reason, holds);
    if (is_new && reason == DiversionControl::Reason::overload)
      log_.warning(holds ? "overload: new flows go straight to the server"
                         : "overload is over: new flows are taken again");
  } catch (const std::exception& error) {
    log_.error(std::string{"diversion: "} + error.what());
  }
}

void Server::set_bypass(bool on) {
  diversion_.set(DiversionControl::Reason::operator_bypass, on);
  log_.info(on ? "bypass on: new flows go straight to the server, live sessions go on" : "bypass off");
  try {
    bypass_file_.set(on);
  } catch (const std::exception& error) {
    throw std::runtime_error{std::string{"bypass is "} + (on ? "on" : "off") +
                             ", but a restart will not know of it: " + error.what()};
  }
}

Counters::Snapshot Server::counters() const {
  Counters::Snapshot sum;
  for (const auto& worker : workers_) sum += worker->snapshot();
  return sum;
}

std::uint64_t Server::accepted() const {
  const Counters::Snapshot sum = counters();
  return sum.accepted + sum.refused_direct + sum.refused_limit + sum.shed;
}

Instant Server::next_deadline() noexcept {
  return std::min({retire_at_, drain_deadline_, verify_at_, linger_at_});
}

void Server::turn_ended(Instant now) noexcept {
  if (admin_) admin_->reap();
  if (now >= retire_at_) retire_listeners(now);
  if (now >= verify_at_) verify_diversion(now);
  if (phase_ == Phase::draining) check_drained(now);
}

void Server::retire_listeners(Instant now) {
  if (now < retire_latest_ && handshakes_in_flight() > 0) {
    retire_at_ = now + kRetireInterval;
    return;
  }
  retire_at_ = Instant::max();
  for (const auto& worker : workers_) worker->close_listeners_except(places_);
}

void Server::check_drained(Instant now) {
  if (now >= drain_deadline_) {
    drain_deadline_ = Instant::max();
    for (const auto& worker : workers_) worker->end_sessions(CloseReason::drain_timeout);
  }
  linger_at_ = Instant::max();
  if (retire_at_ != Instant::max() || admission_.live() > 0) return;
  linger_latest_ = std::min(linger_latest_, now + kLingerPatience);
  if (now >= linger_latest_ || closings_in_flight() == 0) return stop();
  linger_at_ = now + kLingerInterval;
}

}  // namespace headrace
