// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/veth.hpp"

#include <exception>

#include "bench/lab/spawn.hpp"

namespace headrace::lab {
namespace {

void without_offload(const Attachment& end) {
  end.where.command({"ethtool", "-K", end.device, "tso", "off", "gso", "off", "gro", "off"});
}

}  // namespace

Veth::Veth(const Attachment& a, const Attachment& b, VethSettings settings)
    : namespace_(a.where.name()), device_(a.device) {
  run_command({"ip", "link", "add", a.device, "netns", a.where.name(), "type", "veth", "peer", "name",
               b.device, "netns", b.where.name()});
  for (const Attachment* end : {&a, &b}) {
    if (!settings.offload) without_offload(*end);
    configure(*end, settings.mtu);
  }
}

Veth::~Veth() {
  if (device_.empty()) return;
  try {
    run_command({"ip", "-n", namespace_, "link", "del", device_});
  } catch (const std::exception&) {  // gone with its namespace
  }
}

}  // namespace headrace::lab
