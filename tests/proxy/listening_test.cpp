// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/listening.hpp"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>

#include "tests/test.hpp"

namespace headrace {
namespace {

// Of the calling thread: the kernel then refuses the filter, as older ones do without CAP_BPF.
bool give_up_administration() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  sets[0].effective &= ~(1U << CAP_NET_ADMIN | 1U << CAP_SYS_ADMIN);  // which stands for the other
  return ::syscall(SYS_capset, &header, sets.data()) == 0;
}

// A forwarder whose client leg has a first receive window of its own.
Settings with_first_window() {
  Profile profile;
  profile.initial_receive_window = Segments{7};
  Settings settings;
  settings.forwards.push_back({{IpAddress::v4({127, 0, 0, 1}), 18497},
                               {IpAddress::v4({198, 18, 2, 9}), 1521},
                               make_treatment("few", profile, Side::client),
                               make_treatment("plain", {}, Side::server),
                               nullptr,
                               {}});
  return settings;
}

std::unique_ptr<const LegStorage> loaded() {
  std::unique_ptr<const LegStorage> storage;
  try {
    storage = std::make_unique<const LegStorage>();
  } catch (const std::exception& error) {
    WARN("SKIPPED: " << error.what());
  }
  return storage;
}

}  // namespace

TEST_CASE("listening: a first receive window that the kernel refuses is told, and the listener opens") {
  const auto storage = loaded();
  if (!storage) return;
  std::string told;
  Listening listening;
  listening.per_worker.resize(1);
  bool without = false;
  std::thread{[&] {
    without = give_up_administration();
    open_forward_listeners(
        with_first_window(), 1, storage.get(),
        [&](const SocketCall& call, SystemError error) {
          told += std::string{call.key} + ": " + print(error) + "\n";
        },
        listening);
  }}.join();
  REQUIRE(without);
  CHECK(told ==
        "initial_receive_window: the first window announced is the kernel's: bpf: Operation not permitted\n");
  CHECK(listening.per_worker[0].size() == 1);
}

}  // namespace headrace
