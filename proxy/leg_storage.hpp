// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "policy/profile.hpp"
#include "proxy/fd.hpp"

namespace headrace {

// The first windows of a connection (initial_window, initial_receive_window), which no socket option sets: a
// BPF sock_ops program in this process's cgroup reads them from the socket's own storage during the
// handshake. Storage of a listener is inherited by what it accepts. Loaded once, by the main thread, before
// the workers start; put() is for any thread. The programs go with the process, however that ends. The only
// file that knows libbpf.
//
// The first receive window of a client leg needs a second program, which sees every packet that comes in for
// this cgroup (bpf/leg_storage.bpf.c says why): attached with the first listener that asks for it.
class LegStorage {
 public:
  // Needs CAP_BPF and CAP_NET_ADMIN, and a kernel with cgroup v2. Throws std::runtime_error "attempt:
  // reason".
  LegStorage();
  ~LegStorage();
  LegStorage(const LegStorage&) = delete;
  LegStorage& operator=(const LegStorage&) = delete;

  // To be called before a listener opens, of any profile; main thread. Needs CAP_NET_ADMIN, and CAP_BPF too
  // where an older kernel lets nobody else make links (kernel.unprivileged_bpf_disabled): a daemon that has
  // given it up then goes without. False, with errno, when the kernel refuses: the first receive windows of
  // such a profile's client legs are the kernel's.
  bool expect_listener(const Profile& profile) const;

  // Of a listener before it is bound, or of a socket before connect. False when the kernel refuses; does
  // nothing for a profile that asks for nothing.
  bool put(const Fd& socket, const Profile& profile) const;

  static bool is_wanted(const Profile& profile) {
    return profile.initial_window || profile.initial_receive_window;
  }
  // What is certain against it here, whoever will run the daemon: no BPF in this build, or, as root, what the
  // constructor would throw. Empty: nothing.
  static std::string why_not();

 private:
  struct Program;
  std::unique_ptr<Program> program_;
};

}  // namespace headrace
