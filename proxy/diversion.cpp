// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/diversion.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace headrace {

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
  configuration_ = std::move(configuration);
  classes_ = std::move(classes);
  ports_ = std::move(ports);
  put();
}

void DiversionControl::set(Reason reason, bool holds) {
  const unsigned before = reasons_;
  reasons_ = holds ? reasons_ | bit(reason) : reasons_ & ~bit(reason);
  if (present_ && (before == 0) != (reasons_ == 0)) put();
}

void DiversionControl::put() {
  const Settings& settings = configuration_->settings;
  if (settings.intercept.mode == InterceptMode::off) return;
  apply_diversion({settings, *configuration_->policies, classes_, ports_,
                   reasons_ == 0 ? Diversion::on : Diversion::sessions, ipv6_});
  present_ = true;
}

void DiversionControl::remove() {
  if (std::exchange(present_, false)) remove_diversion(configuration_->settings.intercept.firewall);
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
    std::ofstream file{path_};
    file << "New flows go straight to the server. `headrace bypass off` removes this file.\n";
    if (!file.flush()) throw std::runtime_error{"write " + path_ + ": failed"};
  }
  if (error) throw std::runtime_error{"change " + path_ + ": " + error.message()};
}

}  // namespace headrace
