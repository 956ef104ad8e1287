// SPDX-License-Identifier: GPL-3.0-or-later
// What the control socket may ask of the running daemon.
#include <unistd.h>

#include <stdexcept>

#include "proxy/failed_servers.hpp"
#include "proxy/server.hpp"
#include "proxy/status.hpp"

namespace headrace {

std::string Server::on_request(const std::string& verb, const std::string& argument) {
  if (verb == "reload") return render_reloaded(reload());
  if (verb == "drain") {
    if (phase_ == Phase::serving) drain();
    return render_done();
  }
  if (verb == "bypass" && argument == "on")
    set_bypass(true);
  else if (verb == "bypass" && argument == "off")
    set_bypass(false);
  else if (verb != "status" && !(verb == "bypass" && argument == "status"))
    throw std::runtime_error{"unknown request " + verb + " " + argument +
                             " (status, bypass on|off|status, reload, drain)"};
  return status();
}

std::string Server::status() const {
  const FailedNow failed = failed_now();
  return render_status({.pid = ::getpid(),
                        .counters = counters(),
                        .accepted_since_rules = diversion_.accepted_since_rules(),
                        .failed_servers = failed.servers,
                        .syns_to_failed = failed.syns,
                        .syns = verifier_ ? verifier_->counts() : OutcomeCounts{},
                        .held_syns = verifier_ ? verifier_->held() : 0,
                        .waiting_legs = prepared_.waiting(),
                        .live = admission_.live(),
                        .held_bytes = budget_.used(),
                        .policies = configuration_->policies->policies().size(),
                        .ports_by_key = ports_by_key_,
                        .intercepting = intercepts(configuration_->settings),
                        .takes_new_flows = diversion_.takes_new_flows(),
                        .bypass = diversion_.holds(DiversionControl::Reason::operator_bypass),
                        .overload = diversion_.holds(DiversionControl::Reason::overload),
                        .draining = phase_ == Phase::draining});
}

}  // namespace headrace
