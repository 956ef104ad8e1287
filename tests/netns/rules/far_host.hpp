// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "bench/lab/inline_lab.hpp"

namespace headrace {

// A host one hop behind the lab's client or server, which becomes its router. That hop takes 1,300 bytes, and
// the host announces segments as if it took 1,500: only path MTU discovery can find out.
class FarHost {
 public:
  enum class Behind { client, server };
  FarHost(const lab::InlineLab& lab, Behind behind);

  const lab::Namespace& host() const { return host_; }
  std::string address(bool ipv6) const { return net(ipv6) + "2"; }

 private:
  std::string net(bool ipv6) const;

  Behind behind_;
  lab::Namespace host_;
  lab::Veth hop_;
};

}  // namespace headrace
