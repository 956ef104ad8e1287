// SPDX-License-Identifier: GPL-3.0-or-later
// What a leg asks of TCP before there is a socket option for it: its first windows. User space writes the
// values into the storage of a listener (what it accepts inherits them) or of a socket before connect; these
// programs, called for the sockets of their cgroup, apply them where there are any.
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

// The first receive window of the listener whose SYN this CPU has in hand; 0: leave it.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} listener_window SEC(".maps");

static __u32* window_in_hand(void) {
  const __u32 only = 0;
  return bpf_map_lookup_elem(&listener_window, &only);
}

// The window in a SYN-ACK is asked for (BPF_SOCK_OPS_RWND_INIT) on behalf of a request, through which the
// verifier lets nobody see the listener (bpf_sock_ops::sk is null). But the SYN has come through this filter
// of the listener's just before: from there to the question the kernel stays in one softirq, which no other
// packet of this CPU interrupts (tcp_v4_rcv, tcp_conn_request, tcp_openreq_init_rwin; the same in IPv6), and
// a listener has no backlog where a SYN could wait. Except on PREEMPT_RT kernels in which softirqs hold no
// lock of their CPU: another thread's SYN may come in between, and one SYN-ACK goes out with another
// listener's first window. A SYN that is dropped in between leaves a note that the next SYN overwrites. So
// does the ACK that ends a handshake, which meets the listener in this filter too: nobody asks after it.
// Under SYN cookies the question is never put: a request without a listener has no cgroup.
SEC("cgroup_skb/ingress")
int leg_storage_note(struct __sk_buff* packet) {
  struct bpf_sock* socket = packet->sk;
  if (socket) socket = bpf_sk_fullsock(socket);
  if (!socket || socket->state != BPF_TCP_LISTEN) return 1;
  struct leg_windows* windows = bpf_sk_storage_get(&leg_storage, socket, 0, 0);
  __u32* in_hand = window_in_hand();
  if (in_hand) *in_hand = windows ? windows->initial_receive_window : 0;
  return 1;
}

static struct leg_windows* windows_of(struct bpf_sock_ops* call) {
  struct bpf_sock* socket = call->sk;  // none for a request that is not a connection yet
  return socket ? bpf_sk_storage_get(&leg_storage, socket, 0, 0) : 0;
}

static __u32 receive_window(struct bpf_sock_ops* call) {
  if (call->sk) {
    struct leg_windows* windows = windows_of(call);
    return windows ? windows->initial_receive_window : 0;
  }
  __u32* in_hand = window_in_hand();
  if (!in_hand) return 0;
  const __u32 segments = *in_hand;
  *in_hand = 0;
  return segments;
}

SEC("sockops")
int leg_storage_apply(struct bpf_sock_ops* call) {
  // The reply is left alone where there is nothing to say: other programs of this cgroup may have said
  // something.
  if (call->op == BPF_SOCK_OPS_RWND_INIT) {
    const __u32 segments = receive_window(call);
    if (segments) call->reply = segments;
  } else if (call->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB ||
             call->op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB) {
    struct leg_windows* windows = windows_of(call);
    if (windows && windows->initial_window) {
      int segments = windows->initial_window;
      bpf_setsockopt(call, SOL_TCP, TCP_BPF_IW, &segments, sizeof segments);
    }
  }
  return 1;
}

char _license[] SEC("license") = "GPL";
