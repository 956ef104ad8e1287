// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/kernel_keys.hpp"

#include <array>
#include <optional>
#include <sstream>

namespace headrace {
namespace {

using Kind = KernelKey::Kind;

constexpr std::array<KernelKey, 18> kKeys{{
    {"slow_start_after_idle", "net.ipv4.tcp_slow_start_after_idle", Kind::level, 0, 1,
     "false: a pause does not shrink the window, so the burst after it is as large as the one before."},
    {"migrate_req", "net.ipv4.tcp_migrate_req", Kind::level, 0, 1,
     "Connections queued at a listener that closes move to another instead of being reset (Linux 5.14)."},
    {"reordering", "net.ipv4.tcp_reordering", Kind::number, 1, 300,
     "Duplicate ACKs before a segment counts as lost; 3 is the kernel's."},
    {"sack", "net.ipv4.tcp_sack", Kind::level, 0, 1, "Selective acknowledgements offered."},
    {"timestamps", "net.ipv4.tcp_timestamps", Kind::level, 0, 2,
     "TCP timestamps offered, 12 bytes a segment."},
    {"window_scaling", "net.ipv4.tcp_window_scaling", Kind::level, 0, 1, "Windows beyond 64 KiB."},
    {"ecn", "net.ipv4.tcp_ecn", Kind::level, 0, 2, "Explicit congestion notification; 2: only when asked."},
    {"max_syn_backlog", "net.ipv4.tcp_max_syn_backlog", Kind::number, 16, 1'000'000,
     "Half-open connections before SYN cookies begin."},
    {"syncookies", "net.ipv4.tcp_syncookies", Kind::level, 0, 2,
     "1: cookies once the backlog is full; 2: always, for tests."},
    {"tw_reuse", "net.ipv4.tcp_tw_reuse", Kind::level, 0, 2,
     "1: connect takes ports in TIME_WAIT; keeps connect_as = \"proxy\" and forwarders fast."},
    {"mtu_probing", "net.ipv4.tcp_mtu_probing", Kind::level, 0, 2,
     "1: finds the path MTU behind a black hole; 2: always probes."},
    {"fastopen", "net.ipv4.tcp_fastopen", Kind::number, 0, 3,
     "Bits: 1 as client, 2 as server; fast_open needs them."},
    {"notsent_lowat", "net.ipv4.tcp_notsent_lowat", Kind::bytes, 1, UINT32_MAX,
     "Unsent bytes queued in the kernel for legs without unsent_limit."},
    {"rmem", "net.ipv4.tcp_rmem", Kind::triple, 1, INT32_MAX,
     "Receive buffer: least, first, and most that autotuning gives."},
    {"wmem", "net.ipv4.tcp_wmem", Kind::triple, 1, INT32_MAX,
     "Send buffer: least, first, and most that autotuning gives."},
    {"rmem_max", "net.core.rmem_max", Kind::bytes, 2304, INT32_MAX, "Largest receive_buffer."},
    {"wmem_max", "net.core.wmem_max", Kind::bytes, 4608, INT32_MAX, "Largest send_buffer."},
    {"somaxconn", "net.core.somaxconn", Kind::number, 1, 1'000'000,
     "Accepted connections that may wait for a worker."},
}};

std::optional<std::string> level(const TomlNode& node, const KernelKey& row) {
  if (const auto* flag = std::get_if<bool>(&node.value); flag != nullptr && row.kind == Kind::level) {
    return *flag ? "1" : "0";
  }
  const auto* number = std::get_if<std::int64_t>(&node.value);
  if (number == nullptr || *number < static_cast<std::int64_t>(row.low) ||
      *number > static_cast<std::int64_t>(row.high)) {
    return std::nullopt;
  }
  return std::to_string(*number);
}

std::optional<std::string> bytes(const TomlNode& node, const KernelKey& row) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) return std::nullopt;
  const auto size = parse_bytes(*text);
  if (!size || size->count < row.low || size->count > row.high) return std::nullopt;
  return std::to_string(size->count);
}

std::optional<std::string> triple(const TomlNode& node, const KernelKey& row) {
  const auto* text = std::get_if<std::string>(&node.value);
  if (text == nullptr) return std::nullopt;
  std::istringstream words{*text};
  std::string result;
  std::uint64_t before = row.low;
  std::size_t count = 0;
  for (std::string word; words >> word; ++count) {
    const auto number = parse_number(word, before, row.high);
    if (!number) return std::nullopt;
    before = *number;
    result += (count == 0 ? "" : " ") + std::to_string(*number);
  }
  if (count != 3) return std::nullopt;
  return result;
}

std::optional<std::string> value_of(const TomlNode& node, const KernelKey& row) {
  if (row.kind == Kind::bytes) return bytes(node, row);
  if (row.kind == Kind::triple) return triple(node, row);
  return level(node, row);
}

std::string accepted(const KernelKey& row) {
  const std::string range = std::to_string(row.low) + "-" + std::to_string(row.high);
  if (row.kind == Kind::bytes) return R"("keep" or a size with a unit, like "4MiB")";
  if (row.kind == Kind::triple) return R"("keep" or three rising numbers, like "4096 131072 6291456")";
  if (row.kind == Kind::number) return "\"keep\" or " + range;
  return row.high == 1 ? "\"keep\", true, false" : "\"keep\", true, false or " + range;
}

}  // namespace

std::span<const KernelKey> kernel_keys() { return kKeys; }

void parse_kernel(const Source& source, const TomlTable& table, KernelSettings& into) {
  TableReader reader{source, table, "kernel."};
  for (const KernelKey& row : kKeys) {
    const TomlNode* node = reader.take(row.key);
    if (node == nullptr) continue;
    const auto* word = std::get_if<std::string>(&node->value);
    if (word != nullptr && *word == "keep") {
      into.erase(std::string{row.sysctl});
    } else if (const auto value = value_of(*node, row)) {
      into[std::string{row.sysctl}] = *value;
    } else {
      reader.refuse(*node, row.key, accepted(row));
    }
  }
}

}  // namespace headrace
