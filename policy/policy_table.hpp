// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/address.hpp"
#include "policy/flow.hpp"
#include "policy/leg_setting.hpp"
#include "policy/profile.hpp"

// Ordered policies; first match wins. Immutable once built and shared by all workers
// (shared_ptr<const PolicyTable>); a reload swaps the whole table.
namespace headrace {

enum class Action : std::uint8_t { accelerate, bypass };
enum class ConnectAs : std::uint8_t { client, client_address, proxy };
// When the client's handshake completes: at once, or when the server's has.
enum class Accept : std::uint8_t { early, verified };

std::string_view print(Action action);
std::string_view print(ConnectAs connect_as);  // "client", "client-address", "proxy"
std::string_view print(Accept accept);         // "early", "verified"

struct SourceLocation {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
  bool operator==(const SourceLocation&) const = default;
};

// How one leg of a session is treated: a profile with its setsockopt calls worked out beforehand, so that
// a connection costs no rendering. Immutable and shared: policies that name the same profile share one.
struct LegTreatment {
  struct Calls {
    std::vector<SocketCall> handshake;
    std::vector<SocketCall> connection;
  };
  std::string profile;  // name; "NAME+" when the policy overrides keys of it
  Profile settings;
  Calls ipv4;
  Calls ipv6;

  const Calls& calls(Family family) const { return family == Family::ipv4 ? ipv4 : ipv6; }
};
using SharedTreatment = std::shared_ptr<const LegTreatment>;
// For one side: the same profile makes other calls on the client leg than on the server leg (fast_open,
// mark).
SharedTreatment make_treatment(std::string profile, const Profile& settings, Side side);

// Which flows. An empty `from` or `ports` matches any. An empty `to` matches none: the policy is there to be
// named by others (data_policy).
struct Match {
  std::vector<Prefix> from;
  std::vector<Prefix> to;
  std::vector<PortRange> ports;
  bool matches(const Flow& flow) const;
  bool covers(const Match& other) const;  // every flow that `other` matches, this one matches too
};

struct DataDecisions;

struct Decision {
  std::string policy;
  Action action = Action::accelerate;
  ConnectAs connect_as = ConnectAs::client;
  Accept accept = Accept::early;
  SharedTreatment client_leg;
  SharedTreatment server_leg;
  // Set for app = "ftp": the control channel is followed, and this is what its data connections get.
  std::shared_ptr<const DataDecisions> data;
};

struct DataDecisions {
  Decision passive;  // as the policy says that data_policy names
  Decision active;   // with its legs swapped: there the server connects, as itself
};
std::shared_ptr<const DataDecisions> data_decisions(const Decision& data_policy);

struct Policy {
  Match match;
  Decision decision;
  SourceLocation where;
};

inline bool is_verified(const Policy& policy) {
  return policy.decision.action == Action::accelerate && policy.decision.accept == Accept::verified;
}

class PolicyIndex;

class PolicyTable {
 public:
  PolicyTable();
  explicit PolicyTable(std::vector<Policy> policies);
  PolicyTable(PolicyTable&&) noexcept;
  PolicyTable& operator=(PolicyTable&&) noexcept;
  ~PolicyTable();

  // The first policy that matches, or nullptr: traffic that no policy covers is not ours.
  // Sub-microsecond at 100,000 policies (an index by destination prefix length and address).
  const Policy* decide(const Flow& flow) const;

  const std::vector<Policy>& policies() const { return policies_; }
  std::size_t index_of(const Policy& policy) const {
    return static_cast<std::size_t>(&policy - policies_.data());
  }

  bool has_verified() const;  // some policy holds SYNs

  // The first earlier policy that already takes everything `policies[index]` could match, or nullptr.
  static const Policy* shadowed_by(const std::vector<Policy>& policies, std::size_t index);

  // All of them at once, by index: each policy that can never match and the first that takes its flows.
  struct Shadowed {
    std::size_t policy;
    std::size_t by;
  };
  std::vector<Shadowed> shadowed() const;

 private:
  std::vector<Policy> policies_;
  std::unique_ptr<PolicyIndex> index_;
};

}  // namespace headrace
