// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bench/lab/emulated_link.hpp"
#include "bench/lab/namespace.hpp"
#include "bench/lab/veth.hpp"

namespace headrace::lab {

// Addresses of the standard lab. The middle has .1 and ::1 on both sides.
inline constexpr const char* kClient4 = "198.18.1.2";
inline constexpr const char* kClient6 = "2001:db8:1::2";
inline constexpr const char* kServer4 = "198.18.2.2";
inline constexpr const char* kServer6 = "2001:db8:2::2";
inline constexpr const char* kMiddleWan4 = "198.18.1.1";
inline constexpr const char* kMiddleWan6 = "2001:db8:1::1";
inline constexpr const char* kMiddleLan4 = "198.18.2.1";
inline constexpr const char* kMiddleLan6 = "2001:db8:2::1";

// "198.18.2.2" or "2001:db8:2::2", 5000 -> "198.18.2.2:5000", "[2001:db8:2::2]:5000".
std::string endpoint(const std::string& address, int port);

struct InlineLabSettings {
  std::optional<LinkSettings> client_link;  // a = client, b = middle; nothing: veth
  std::optional<LinkSettings> server_link;  // a = middle, b = server; nothing: veth
  VethSettings client_veth;
  VethSettings server_veth;
  std::string name;             // non-empty: namespaces NAME-client, NAME-middle, NAME-server
  bool may_outlive_us = false;  // allows keep()
};

// The standard lab: a client, a box in the middle that forwards both families and where headrace goes, a
// server.
//
//   client eth0 198.18.1.2 ---- wan0 198.18.1.1 middle 198.18.2.1 lan0 ---- eth0 198.18.2.2 server
//          2001:db8:1::2             2001:db8:1::1    2001:db8:2::1               2001:db8:2::2
//
// Client is `a` on its link, the middle is `a` towards the server. Made in about 0.2 s, gone with the object.
class InlineLab {
 public:
  explicit InlineLab(InlineLabSettings settings = {});

  Namespace client;
  Namespace middle;
  Namespace server;

  // The destructor then leaves namespaces and links to people. Needs a name and may_outlive_us.
  void keep();

  // More addresses in the same networks: add_server_address("198.18.2.9"),
  // add_client_address("2001:db8:1::9").
  void add_client_address(const std::string& address) const;
  void add_server_address(const std::string& address) const;

  // The emulated link of that side. Throws std::logic_error where there is a veth.
  const EmulatedLink& client_link() const;
  const EmulatedLink& server_link() const;

 private:
  std::unique_ptr<Veth> client_veth_;
  std::unique_ptr<Veth> server_veth_;
  std::unique_ptr<EmulatedLink> client_link_;
  std::unique_ptr<EmulatedLink> server_link_;
};

}  // namespace headrace::lab
