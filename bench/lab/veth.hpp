// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bench/lab/attachment.hpp"

namespace headrace::lab {

struct VethSettings {
  int mtu = 1500;
  bool offload = true;  // false: no TSO, GSO and GRO, so that a capture shows what a real wire would carry
};

// A pair of virtual Ethernet interfaces, one in each namespace, up and with addresses. Removed with the
// object, or with either namespace. Note that both ends draw initial sequence numbers from one secret, as all
// namespaces of a host do: where ends must look like two hosts, use an EmulatedLink.
class Veth {
 public:
  Veth(const Attachment& a, const Attachment& b, VethSettings settings = {});
  Veth(Veth&&) = delete;
  ~Veth();

  void release() { device_.clear(); }  // the destructor then leaves it to its namespaces

 private:
  std::string namespace_;
  std::string device_;
};

}  // namespace headrace::lab
