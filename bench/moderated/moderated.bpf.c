// SPDX-License-Identifier: GPL-3.0-or-later
// The old kernels' burst moderation as a congestion control: after each ACK at most what is in flight and six
// segments more may be out. Otherwise a window that only a loss makes smaller, so that the bursts alone are
// what is seen. Needs cong_control as Linux 6.10 and later call it.
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define BURST 6             // segments: the constant of the kernels that did it
#define MOST_SEGMENTS 4096  // in flight; more than any link of ours holds
#define FEWEST_SEGMENTS 2

// Of the kernel's structures what is used here; the loader finds where they are in the running one.
#define FROM_KERNEL __attribute__((preserve_access_index))

struct sock;
struct inet_connection_sock {
  __u64 icsk_ca_priv[13];
} FROM_KERNEL;
struct tcp_sock {
  struct inet_connection_sock inet_conn;
  __u32 packets_out, sacked_out, lost_out, retrans_out;
  __u32 snd_cwnd;
} FROM_KERNEL;
struct rate_sample {
  __u32 acked_sacked;
} FROM_KERNEL;

// Matched with the kernel's by name, member by member.
struct tcp_congestion_ops {
  void (*init)(struct sock* sk);
  __u32 (*ssthresh)(struct sock* sk);
  void (*cong_control)(struct sock* sk, __u32 ack, int flag, const struct rate_sample* rs);
  __u32 (*undo_cwnd)(struct sock* sk);
  char name[16];
};

struct window {
  __u32 segments;  // what there would be without moderation
};

static struct window* window_of(struct sock* sk) {
  return (struct window*)((struct tcp_sock*)sk)->inet_conn.icsk_ca_priv;
}

static void moderate(struct sock* sk) {
  struct tcp_sock* tcp = (struct tcp_sock*)sk;
  __u32 in_flight = tcp->packets_out - (tcp->sacked_out + tcp->lost_out) + tcp->retrans_out;
  __u32 allowed = in_flight + BURST, segments = window_of(sk)->segments;
  tcp->snd_cwnd = allowed < segments ? allowed : segments;
}

SEC("struct_ops/moderated_init")
void BPF_PROG(moderated_init, struct sock* sk) {
  __u32 initial = ((struct tcp_sock*)sk)->snd_cwnd;
  window_of(sk)->segments = initial > BURST ? initial : BURST;
  moderate(sk);
}

SEC("struct_ops/moderated_ssthresh")
__u32 BPF_PROG(moderated_ssthresh, struct sock* sk) {
  struct window* window = window_of(sk);
  __u32 half = window->segments / 2;
  return window->segments = half > FEWEST_SEGMENTS ? half : FEWEST_SEGMENTS;
}

SEC("struct_ops/moderated_cong_control")
void BPF_PROG(moderated_cong_control, struct sock* sk, __u32 ack, int flag, const struct rate_sample* rs) {
  struct window* window = window_of(sk);
  __u32 grown = window->segments + rs->acked_sacked;
  window->segments = grown < MOST_SEGMENTS ? grown : MOST_SEGMENTS;
  moderate(sk);
}

SEC("struct_ops/moderated_undo")
__u32 BPF_PROG(moderated_undo, struct sock* sk) { return ((struct tcp_sock*)sk)->snd_cwnd; }

// The name is a place to be written over before loading: each process has its own.
SEC(".struct_ops")
struct tcp_congestion_ops moderated = {
    .init = (void*)moderated_init,
    .ssthresh = (void*)moderated_ssthresh,
    .cong_control = (void*)moderated_cong_control,
    .undo_cwnd = (void*)moderated_undo,
    .name = "name-goes-here.",
};

char _license[] SEC("license") = "GPL";
