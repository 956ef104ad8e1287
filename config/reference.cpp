// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/reference.hpp"

#include <string_view>

#include "config/kernel_keys.hpp"
#include "policy/leg_setting.hpp"

namespace headrace {
namespace {

std::string_view when(Phase phase) {
  switch (phase) {
    case Phase::handshake:
      return "handshake";
    case Phase::connection:
      return "connection";
    case Phase::each_read:
      return "each read";
    case Phase::relay:
      return "relay";
  }
  return "";
}

std::string since(const LegSetting& setting) {
  if (setting.since <= KernelVersion{2, 6}) return "any Linux";
  return "Linux " + std::to_string(setting.since.major) + "." + std::to_string(setting.since.minor);
}

std::string code(std::string_view text) { return "`" + std::string{text} + "`"; }

std::string option(const SocketOption& option) {
  if (option.label.empty()) return "no call";
  return option.label6.empty() ? code(option.label) : code(option.label) + ", " + code(option.label6);
}

std::string how(const Mechanism& mechanism) {
  struct Render {
    std::string operator()(const SocketOption& set) const { return option(set); }
    std::string operator()(const PerSide& sides) const {
      return "client leg " + option(sides.client) + ", server leg " + option(sides.server);
    }
    std::string operator()(InRelay) const { return "by the relay itself"; }
    std::string operator()(const InStorage&) const {
      return "by a BPF program during the handshake (needs CAP_BPF; without it a shipped profile does "
             "without)";
    }
    std::string operator()(const Stripped& stripped) const {
      return "the packet filter takes the option `" + std::string{stripped.option} +
             "` out of the leg's SYN (not for `[[forward]]`)";
    }
  };
  return std::visit(Render{}, mechanism);
}

std::string entry(const LegSetting& setting) {
  return "## " + code(setting.key) + "\n\n" + std::string{setting.says} +
         "\n\n- default: " + code(print_value(Profile{}, setting)) + "\n- accepts: " + accepted(setting) +
         "\n- when: " + std::string{when(setting.phase)} + "\n- how: " + how(setting.how) +
         "\n- since: " + since(setting) + "\n\n";
}

constexpr std::string_view kLegIntroduction = R"(# Leg settings

Keys of a `[profile.NAME]` and of a leg written in place, `client_leg = { profile = "lan", mss = 1400 }`. Each leg of a
session has its own. This page is made from the program's own table (`tests/config` compares them).

When a setting takes effect:

- *handshake*: on the listener before the client's SYN is answered, before connect on the server leg. Policies whose
  client legs differ in one of these need a listener each.
- *connection*: after accept on the client leg, before connect on the server leg.
- *each read*: again after reads, since the kernel forgets it.
- *relay*: no option of a socket, but how bytes are passed on.

What cannot be set per leg on Linux: the duplicate-ACK threshold (`kernel.reordering`) and the restart after a pause
(`kernel.slow_start_after_idle`) belong to the network namespace.

)";

constexpr std::string_view kKernelIntroduction = R"(# Kernel settings

Keys of `[kernel]` in headrace.toml. They hold for the whole network namespace: `headrace net up` sets them, `headrace net down`
restores what was there before. `"keep"` leaves a value alone, which is the default of all but `migrate_req` (true).

| key | sysctl | meaning |
|---|---|---|
)";

}  // namespace

std::string render_leg_reference() {
  std::string page{kLegIntroduction};
  for (const LegSetting& setting : leg_settings()) page += entry(setting);
  page.pop_back();
  return page;
}

std::string render_kernel_reference() {
  std::string page{kKernelIntroduction};
  for (const KernelKey& key : kernel_keys()) {
    page += "| " + code(key.key) + " | " + code(key.sysctl) + " | " + std::string{key.says} + " |\n";
  }
  return page;
}

}  // namespace headrace
