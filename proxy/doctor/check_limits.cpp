// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of limits and of what ran over them.
#include <algorithm>
#include <sstream>

#include "policy/units.hpp"
#include "proxy/admission.hpp"
#include "proxy/doctor/judge.hpp"
#include "proxy/resources.hpp"
#include "proxy/socket.hpp"

namespace headrace::doctor {
namespace {

constexpr std::size_t kFewSessions = 1000;       // a small office's; below it the limit is felt
constexpr std::uint64_t kFewPorts = 8192;        // half of them is gone after 60 s at 70 connections a second
constexpr std::uint64_t kSmallWindow = 1 << 20;  // 1 MiB: 200 Mbit/s at 40 ms
constexpr std::uint64_t kPageSize = 4096;

std::optional<PortRange> local_range(const Facts& facts) {
  const auto text = facts.sysctl("net.ipv4.ip_local_port_range");
  if (!text) return std::nullopt;
  std::istringstream stream{*text};
  PortRange range;
  if (!(stream >> range.first >> range.last)) return std::nullopt;
  return range;
}

// "18500-18627,20000": the whole of `range` must be in it.
bool is_reserved(const Facts& facts, const PortRange& range) {
  std::istringstream list{facts.sysctl("net.ipv4.ip_local_reserved_ports").value_or("")};
  for (std::string part; std::getline(list, part, ',');) {
    const auto reserved = parse_port_range(part);
    if (reserved && reserved->contains(range)) return true;
  }
  return false;
}

std::uint64_t third_number(const std::optional<std::string>& text) {
  std::istringstream stream{text.value_or("")};
  std::uint64_t number = 0;
  stream >> number >> number >> number;
  return number;
}

void note_buffer(std::vector<std::string>& found, const LegTreatment& leg, const char* key,
                 const std::optional<Bytes>& size, const std::optional<Bytes>& limit) {
  if (!size || !limit || *size <= *limit) return;
  const std::string text = leg.profile + "'s " + key + " " + print(*size) + " is cut to " + print(*limit);
  if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
}

}  // namespace

Finding descriptors(const Subject& subject) {
  const std::size_t have = subject.facts.descriptors;
  const LimitSettings limits = subject.configuration == nullptr ? LimitSettings{} : subject.settings().limits;
  const std::size_t possible = admission_limits(limits, have).hard_sessions;
  const std::string whose = subject.facts.of_daemon || subject.facts.daemon.answers
                                ? "the hard limit of " + judged_process(subject.facts)
                                : "this shell's hard limit; a service has its own";
  const std::string text = std::to_string(have) + " descriptors (" + whose + ") are enough for " +
                           std::to_string(possible) + " sessions";
  if (limits.sessions && *limits.sessions > possible)
    return failure(
        text + ", limits.sessions asks for " + std::to_string(*limits.sessions),
        "LimitNOFILE=" + std::to_string(*limits.sessions * 5 / 2 + 1000) + " in the unit, or ulimit -Hn");
  if (possible < kFewSessions) return warning(text, "LimitNOFILE=65536 in the unit, or ulimit -Hn");
  return good(text);
}

Finding local_ports(const Subject& subject) {
  const auto range = local_range(subject.facts);
  const PortRange ours = subject.intercept().listener_ports;
  if (!range || ours.last < range->first || range->last < ours.first)
    return good("intercept.listener_ports " + print(ours) + " is outside of ip_local_port_range");
  if (is_reserved(subject.facts, ours))
    return good("intercept.listener_ports " + print(ours) + " is reserved");
  return warning("ip_local_port_range " + print(*range) + " overlaps intercept.listener_ports " +
                     print(ours) + ": outgoing connections of this host can take a listener's port",
                 "sysctl -w net.ipv4.ip_local_reserved_ports=" + print(ours));
}

// connect() tries half of the range first; once that half is in TIME_WAIT each connect walks it (measured:
// 5,755 connections a second become 255).
Finding port_reuse(const Subject& subject) {
  const auto range = local_range(subject.facts);
  if (!range) return good("ip_local_port_range could not be read");
  const std::uint64_t count = range->last < range->first ? 0 : 1U + range->last - range->first;
  const bool reuses = subject.facts.number("net.ipv4.tcp_tw_reuse").value_or(0) == 1;
  const std::string text = std::to_string(count) + " local ports";
  if (subject.configuration != nullptr && !takes_local_ports(*subject.configuration))
    return good("server legs keep the client's port");
  if (count < kFewPorts)
    return warning(text + " (" + print(*range) + "): each is held 60 s after its connection, so " +
                       std::to_string(count / 60) + " new server legs a second to one server are the most",
                   "sysctl -w net.ipv4.ip_local_port_range='10240 65535' net.ipv4.tcp_tw_reuse=1");
  if (reuses || subject.configuration == nullptr) return good(text);
  return warning(text + " and tcp_tw_reuse is not 1: above " + std::to_string(count / 120) +
                     " server legs a second to one server, connect() slows down (forwards, connect_as other "
                     "than \"client\")",
                 "sysctl -w net.ipv4.tcp_tw_reuse=1, or tw_reuse under [kernel]");
}

Finding conntrack(const Subject& subject) {
  const auto count = subject.facts.number("net.netfilter.nf_conntrack_count");
  const auto most = subject.facts.number("net.netfilter.nf_conntrack_max");
  if (!count || !most || *most == 0) return good("connections are not tracked, or without a limit");
  const std::string text = std::to_string(*count) + " of " + std::to_string(*most) + " tracked connections";
  const std::string mend =
      "sysctl -w net.netfilter.nf_conntrack_max=" + std::to_string(*most * 2) + " (in the first namespace)";
  if (*count * 20 >= *most * 19) return failure(text + ": new flows are dropped next", mend);
  if (*count * 10 >= *most * 8) return warning(text, mend);
  if (subject.configuration != nullptr) {
    const auto wanted = admission_limits(subject.settings().limits, subject.facts.descriptors).sessions;
    if (wanted * 2 > *most)
      return warning(text + "; " + std::to_string(wanted) + " sessions would need two entries each",
                     "sysctl -w net.netfilter.nf_conntrack_max=" + std::to_string(wanted * 4));
  }
  return good(text);
}

Finding syn_cookies(const Subject& subject) {
  const auto sent = subject.facts.counter("SyncookiesSent");
  if (sent == 0) return good("none was sent");
  const bool bare = subject.facts.number("net.ipv4.tcp_timestamps").value_or(1) == 0;
  return warning(
      std::to_string(sent) + " sent since this namespace began: a listener's queue was full" +
          (bare ? ", and since tcp_timestamps = 0 those connections have neither SACK nor window scale"
                : "; with timestamps off on that leg such connections have neither SACK nor window scale"),
      "sysctl -w net.core.somaxconn=4096 net.ipv4.tcp_syncookies=1, more workers, or find the flood");
}

Finding accept_queues(const Subject& subject) {
  const auto overflows = subject.facts.counter("ListenOverflows");
  const auto dropped = subject.facts.counter("ListenDrops");
  if (overflows == 0 && dropped == 0) return good("no listener of this host overflowed");
  return warning("listeners of this host overflowed " + std::to_string(overflows) + " times and dropped " +
                     std::to_string(dropped) + " handshakes: clients wait 1-3 s for a retransmission",
                 "sysctl -w net.core.somaxconn=4096, more workers (nstat -az TcpExtListenOverflows)");
}

Finding backlog(const Subject& subject) {
  const auto most = subject.facts.number("net.core.somaxconn");
  if (!most || *most >= static_cast<std::uint64_t>(kListenBacklog))
    return good("a listener may queue " + std::to_string(kListenBacklog) + " connections");
  return warning("cuts a listener's queue from " + std::to_string(kListenBacklog) + " to " +
                     std::to_string(*most) + ": bursts of new connections wait for a retransmission",
                 "sysctl -w net.core.somaxconn=4096");
}

Finding queued_connections(const Subject& subject) {
  const auto value = subject.facts.sysctl("net.ipv4.tcp_migrate_req");
  if (!value)
    return warning(
        "this kernel has no tcp_migrate_req (5.14): a reload that closes a listener resets what is queued on "
        "it");
  if (*value == "1") return good("queued connections outlive a listener that closes");
  return warning("0: a reload that closes a listener resets what is queued on it", "headrace net up");
}

Finding buffers(const Subject& subject) {
  std::vector<std::string> found;
  const Environment& here = subject.facts.environment;
  if (subject.configuration != nullptr) {
    for (const Policy& policy : subject.configuration->policies->policies()) {
      if (policy.decision.action != Action::accelerate) continue;
      for (const SharedTreatment& leg : {policy.decision.client_leg, policy.decision.server_leg}) {
        note_buffer(found, *leg, "receive_buffer", leg->settings.receive_buffer, here.receive_limit);
        note_buffer(found, *leg, "send_buffer", leg->settings.send_buffer, here.send_limit);
      }
    }
  }
  if (!found.empty()) {
    return warning(join(found, "; ") + ", and autotuning is off",
                   "sysctl -w net.core.rmem_max=16777216 net.core.wmem_max=16777216, or \"auto\"");
  }
  for (const char* name : {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}) {
    const auto most = third_number(subject.facts.sysctl(name));
    if (most != 0 && most < kSmallWindow) {
      return warning(std::string{name} + " lets autotuning grow to " + std::to_string(most) +
                         " bytes only: " + std::to_string(most * 8 / 40'000) + " Mbit/s at 40 ms",
                     std::string{"sysctl -w "} + name + "='4096 131072 6291456'");
    }
  }
  if (subject.facts.number("net.ipv4.tcp_window_scaling").value_or(1) == 0 ||
      subject.facts.number("net.ipv4.tcp_sack").value_or(1) == 0)
    return warning("window scaling or SACK is off for the whole host: no leg can have them",
                   "sysctl -w net.ipv4.tcp_window_scaling=1 net.ipv4.tcp_sack=1");
  return good("autotuning has room, and no policy asks for more than the host allows");
}

// Past fs.pipe-user-pages-soft new pipes shrink to one or two pages (B25); splicing goes on, slower.
Finding pipes(const Subject& subject) {
  const auto pages = subject.facts.number("fs.pipe-user-pages-soft");
  if (!pages || *pages == 0) return good("pipes are not limited");
  if (subject.facts.capabilities.sys_resource)
    return good(judged_process(subject.facts) + " may exceed fs.pipe-user-pages-soft");
  const std::uint64_t full = *pages / (kPipeSize / kPageSize);
  const std::string text = "fs.pipe-user-pages-soft = " + std::to_string(*pages) + " gives " +
                           std::to_string(full) +
                           " bulk directions at once a full pipe; the others get small ones";
  if (full >= 256) return good(text);
  return warning(text, "sysctl -w fs.pipe-user-pages-soft=16384");
}

}  // namespace headrace::doctor
