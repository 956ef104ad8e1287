// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/diversion.hpp"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace headrace {
namespace {

// Whoever removes the rules that often means it.
constexpr int kMostRepairs = 3;

}  // namespace

DiversionControl::~DiversionControl() {
  try {
    remove();
  } catch (const std::exception&) {
    // Nobody is left to tell; without a listener the rules let new flows pass.
  }
}

void DiversionControl::replace(std::shared_ptr<const Configuration> configuration, ListenerClasses classes,
                               ClassPorts ports) {
  if (!claim_) claim_.emplace();
  Content fresh{std::move(configuration), std::move(classes), std::move(ports)};
  put(fresh, There::as_we_left_it);
  content_ = std::move(fresh);
}

void DiversionControl::set(Reason reason, bool holds) {
  reasons_ = holds ? reasons_ | bit(reason) : reasons_ & ~bit(reason);
  if (applied_ && *applied_ != wanted()) put(content_, There::as_we_left_it);
}

void DiversionControl::put(const Content& content, There there) {
  const Settings& settings = content.configuration->settings;
  if (settings.intercept.mode == InterceptMode::off) return;
  const auto missing = missing_on_host(settings);
  reasons_ = missing.empty() ? reasons_ & ~bit(Reason::host) : reasons_ | bit(Reason::host);
  const std::uint64_t accepted = accepted_();
  taking_(wanted() == Diversion::on);
  apply(content, there);
  if (rules_.counters_began) accepted_before_rules_ = accepted;
  applied_ = wanted();
}

// Where the packet filter refuses, the rules that it had stay, and so do the classes that these lead to.
void DiversionControl::apply(const Content& content, There there) {
  const Settings& settings = content.configuration->settings;
  const auto resume = [this](const Content& in_force) {
    expected_.resume(in_force.configuration->settings.intercept, in_force.classes, in_force.ports,
                     Clock::now());
  };
  expected_.suspend();
  try {
    rules_ = apply_diversion(
        {settings, *content.configuration->policies, content.classes, content.ports, wanted(), ipv6_},
        applied_ && there == There::as_we_left_it ? &rules_ : nullptr);
  } catch (...) {
    if (applied_) resume(content_);
    throw;
  }
  resume(content);
}

// Without its routing rule a diverted packet is neither ours nor forwarded: it is lost.
std::vector<std::string> DiversionControl::missing_on_host(const Settings& settings) const {
  HostPlan host = plan_host(settings, ipv6_);
  host.sysctls.clear();
  return net_differences(host);
}

std::string DiversionControl::verify() {
  if (!applied_) return {};
  const Settings& settings = content_.configuration->settings;
  const auto missing = missing_on_host(settings);
  if (missing.empty() == holds(Reason::host)) {
    put(content_, There::as_we_left_it);
    if (missing.empty())
      return std::string{"the host is prepared again"} + (takes_new_flows() ? ": new flows are taken" : "");
    return "new flows go straight to the server until `headrace net up` has been run again: " +
           missing.front();
  }
  if (*applied_ != wanted()) {
    put(content_, There::as_we_left_it);
    return "the packet filter has taken the change that it refused before";
  }
  // A redirect that takes nothing has no rules that could be missed.
  if (settings.intercept.mode == InterceptMode::redirect && *applied_ == Diversion::sessions) return {};
  if (diversion_present(settings.intercept.firewall)) return {};
  if (repairs_ >= kMostRepairs) {
    applied_.reset();
    return "somebody took the rules out again and again: they stay out until a restart";
  }
  ++repairs_;
  put(content_, There::unknown);
  return "somebody took the rules out: they are in again";
}

void DiversionControl::remove() {
  if (!std::exchange(applied_, std::nullopt)) return;
  expected_.suspend();
  taking_(false);
  remove_diversion(content_.configuration->settings.intercept.firewall);
}

bool BypassFile::is_on() const {
  std::error_code ignored;
  return std::filesystem::exists(path_, ignored);
}

void BypassFile::set(bool on) const {
  std::error_code error;
  if (!on) {
    std::filesystem::remove(path_, error);
  } else {
    std::filesystem::create_directories(std::filesystem::path{path_}.parent_path(), error);
    // The directory may be the daemon's and this root: a link that was planted there is not followed.
    const Fd file{::open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)};
    if (!file) error = {errno, std::system_category()};
  }
  if (error) throw std::runtime_error{"change " + path_ + ": " + error.message()};
}

}  // namespace headrace
