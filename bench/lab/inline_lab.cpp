// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/inline_lab.hpp"

#include <stdexcept>

namespace headrace::lab {
namespace {

Namespace make_namespace(const InlineLabSettings& settings, const std::string& role) {
  return settings.name.empty() ? Namespace(role) : Namespace::named(settings.name + "-" + role);
}

void make_router(const Namespace& where) {
  where.sysctl("net.ipv4.ip_forward", "1");
  where.sysctl("net.ipv6.conf.all.forwarding", "1");
  for (const char* which : {"all", "default"}) {
    where.sysctl(std::string("net.ipv4.conf.") + which + ".rp_filter", "0");
  }
}

void add_address(const Namespace& where, const std::string& address) {
  const bool six = address.find(':') != std::string::npos;
  add_addresses({where, "eth0", {address + (six ? "/64" : "/24")}});
}

const EmulatedLink& existing(const std::unique_ptr<EmulatedLink>& link) {
  if (!link) throw std::logic_error("this side of the lab is a veth, not an emulated link");
  return *link;
}

}  // namespace

std::string endpoint(const std::string& address, int port) {
  const bool six = address.find(':') != std::string::npos;
  return (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

InlineLab::InlineLab(InlineLabSettings settings)
    : client(make_namespace(settings, "client")),
      middle(make_namespace(settings, "middle")),
      server(make_namespace(settings, "server")) {
  make_router(middle);
  const Attachment at_client{client, "eth0", {"198.18.1.2/24", "2001:db8:1::2/64"}};
  const Attachment towards_client{middle, "wan0", {"198.18.1.1/24", "2001:db8:1::1/64"}};
  const Attachment towards_server{middle, "lan0", {"198.18.2.1/24", "2001:db8:2::1/64"}};
  const Attachment at_server{server, "eth0", {"198.18.2.2/24", "2001:db8:2::2/64"}};
  if (settings.client_link) {
    client_link_ = std::make_unique<EmulatedLink>(at_client, towards_client, *settings.client_link,
                                                  settings.may_outlive_us);
  } else {
    client_veth_ = std::make_unique<Veth>(at_client, towards_client, settings.client_veth);
  }
  if (settings.server_link) {
    server_link_ = std::make_unique<EmulatedLink>(towards_server, at_server, *settings.server_link,
                                                  settings.may_outlive_us);
  } else {
    server_veth_ = std::make_unique<Veth>(towards_server, at_server, settings.server_veth);
  }
  client.ip("route add default via 198.18.1.1\nroute add default via 2001:db8:1::1");
  server.ip("route add default via 198.18.2.1\nroute add default via 2001:db8:2::1");
}

void InlineLab::keep() {
  for (Namespace* kept : {&client, &middle, &server}) kept->keep();
  for (EmulatedLink* link : {client_link_.get(), server_link_.get()}) {
    if (link != nullptr) link->release();
  }
  for (Veth* veth : {client_veth_.get(), server_veth_.get()}) {
    if (veth != nullptr) veth->release();
  }
}

void InlineLab::add_client_address(const std::string& address) const { add_address(client, address); }
void InlineLab::add_server_address(const std::string& address) const { add_address(server, address); }

const EmulatedLink& InlineLab::client_link() const { return existing(client_link_); }
const EmulatedLink& InlineLab::server_link() const { return existing(server_link_); }

}  // namespace headrace::lab
