// SPDX-License-Identifier: GPL-3.0-or-later
// What a leg asks of TCP before there is a socket option for it: its first windows. User space writes the
// values into the storage of a listener (what it accepts inherits them) or of a socket before connect; this
// program, called for every connection of its cgroup, applies them where there are any.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define SOL_TCP 6

struct leg_windows {
  __u32 initial_window;          // segments; 0: leave it
  __u32 initial_receive_window;  // segments; 0: leave it
};

struct {
  __uint(type, BPF_MAP_TYPE_SK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
  __type(key, int);
  __type(value, struct leg_windows);
} leg_storage SEC(".maps");

static struct leg_windows* windows_of(struct bpf_sock_ops* call) {
  struct bpf_sock* socket = call->sk;  // none for a request that is not a connection yet
  return socket ? bpf_sk_storage_get(&leg_storage, socket, 0, 0) : 0;
}

SEC("sockops")
int leg_storage_apply(struct bpf_sock_ops* call) {
  struct leg_windows* windows;
  // The reply is left alone where there is nothing to say: other programs of this cgroup may have said
  // something.
  if (call->op == BPF_SOCK_OPS_RWND_INIT) {
    windows = windows_of(call);
    if (windows && windows->initial_receive_window) call->reply = windows->initial_receive_window;
  } else if (call->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ||
             call->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB) {
    windows = windows_of(call);
    if (windows && windows->initial_window) {
      int segments = windows->initial_window;
      bpf_setsockopt(call, SOL_TCP, TCP_BPF_IW, &segments, sizeof segments);
    }
  }
  return 1;
}

char _license[] SEC("license") = "GPL";
