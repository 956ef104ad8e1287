// SPDX-License-Identifier: GPL-3.0-or-later
#include "policy/leg_setting.hpp"

#include <algorithm>
#include <array>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace headrace {
namespace {

// Newer than Debian 12's headers; all three came with Linux 6.15 (net-next of February and March 2025).
constexpr int kTcpRtoMaxMs = 44;
constexpr int kTcpRtoMinUs = 45;
constexpr int kTcpDelackMaxUs = 46;

// Connections that may wait with data in their SYN (RFC 7413, 5.1 asks for a limit). Nothing is reserved.
constexpr int kFastOpenQueue = 256;

constexpr KernelVersion kOld{2, 6};

constexpr SocketOption tcp(int name, std::string_view label, Encoding encoding = Encoding::number) {
  return {.level = IPPROTO_TCP, .name = name, .label = label, .encoding = encoding};
}

constexpr SocketOption sol(int name, std::string_view label, Encoding encoding = Encoding::number) {
  return {.level = SOL_SOCKET, .name = name, .label = label, .encoding = encoding};
}

constexpr SocketOption kTrafficClass{.level = IPPROTO_IP,
                                     .name = IP_TOS,
                                     .label = "IP_TOS",
                                     .encoding = Encoding::dscp,
                                     .level6 = IPPROTO_IPV6,
                                     .name6 = IPV6_TCLASS,
                                     .label6 = "IPV6_TCLASS"};

constexpr SocketOption kFastOpenListener{.level = IPPROTO_TCP,
                                         .name = TCP_FASTOPEN,
                                         .label = "TCP_FASTOPEN",
                                         .encoding = Encoding::flag,
                                         .when_true = kFastOpenQueue};

constexpr std::uint64_t kMilli = 1'000;  // microseconds
constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kKi = 1024;

// setsockopt doubles what it is given into an int, thus half of it; the kernel's floor is about 2 KiB.
constexpr Range kBuffer{2 * kKi, 1024 * 1024 * kKi};
// What TCP_MAXSEG accepts (measured on 6.18): TCP_MIN_MSS to MAX_TCP_WINDOW. An IPv4 packet would hold
// 65,495.
constexpr Range kSegment{88, 32'767};
constexpr Range kKeepaliveTime{kSecond, 32'767 * kSecond};  // MAX_TCP_KEEPIDLE, MAX_TCP_KEEPINTVL
// Two jiffies to a fifth of a second, measured at HZ 250; a kernel with HZ 100 refuses less than 20 ms.
constexpr Range kTick{8 * kMilli, 200 * kMilli};
constexpr Range kWindowSegments{1, 1'000};

// The order of the product's reference.
const std::array<LegSetting, 27> kSettings{{
    {.key = "nodelay",
     .field = &Profile::nodelay,
     .absent = {},
     .range = {},
     .phase = Phase::connection,
     .how = tcp(TCP_NODELAY, "TCP_NODELAY", Encoding::flag),
     .since = kOld,
     .says = "Small segments leave at once and do not wait for the peer's ACK (Nagle off)."},
    {.key = "quickack",
     .field = &Profile::quickack,
     .absent = {},
     .range = {},
     .phase = Phase::each_read,
     .how = InRelay{},
     .since = kOld,
     .says = "Acknowledges at once, set again after each read since the kernel falls back to delayed ACKs; "
             "auto spares the ACKs while full segments stream in."},
    {.key = "cork",
     .field = &Profile::cork,
     .absent = {},
     .range = {100, 200 * kMilli},  // then the kernel pushes by itself (tcp(7), TCP_CORK)
     .phase = Phase::relay,
     .how = InRelay{},
     .since = kOld,
     .says =
         "Joins what is already readable of a burst into full segments and pushes its end; a duration also "
         "waits that long for more."},
    {.key = "mss",
     .field = &Profile::mss,
     .absent = {},
     .range = kSegment,
     .phase = Phase::handshake,
     .how = tcp(TCP_MAXSEG, "TCP_MAXSEG"),
     .since = kOld,
     .says = "Largest segment that this leg announces and sends, TCP options included; mirror "
             "announces what the other end announced (on the client leg with accept = \"verified\")."},
    {.key = "receive_buffer",
     .field = &Profile::receive_buffer,
     .absent = "auto",
     .range = kBuffer,
     .phase = Phase::handshake,
     .how = sol(SO_RCVBUF, "SO_RCVBUF"),
     .since = kOld,
     .says = "Fixed receive buffer; turns the kernel's autotuning off and is capped by net.core.rmem_max."},
    {.key = "send_buffer",
     .field = &Profile::send_buffer,
     .absent = "auto",
     .range = kBuffer,
     .phase = Phase::handshake,
     .how = sol(SO_SNDBUF, "SO_SNDBUF"),
     .since = kOld,
     .says = "Fixed send buffer; turns the kernel's autotuning off and is capped by net.core.wmem_max."},
    {.key = "window_clamp",
     .field = &Profile::window_clamp,
     .absent = "off",
     .range = kBuffer,
     .phase = Phase::handshake,
     .how = tcp(TCP_WINDOW_CLAMP, "TCP_WINDOW_CLAMP"),
     .since = kOld,
     .says = "Upper bound of the first receive window that this leg announces, which also fixes the window "
             "scale; "
             "recent kernels let autotuning raise later windows up to what the scale can say."},
    {.key = "initial_window",
     .field = &Profile::initial_window,
     .absent = "auto",
     .range = kWindowSegments,
     .phase = Phase::handshake,
     .how = InStorage{"the first burst of a connection is limited to the kernel's 10 segments (a route's "
                      "initcwnd does the same for all connections)"},
     .since = {5, 7},
     .says = "Segments that may leave before the first ACK arrives."},
    {.key = "initial_receive_window",
     .field = &Profile::initial_receive_window,
     .absent = "auto",
     .range = kWindowSegments,
     .phase = Phase::handshake,
     .how = InStorage{"the first window announced is the kernel's (a route's initrwnd does the same for all "
                      "connections)"},
     .since = {5, 7},
     .says = "Segments that the peer may send before it hears from this leg again, announced in the SYN or "
             "SYN-ACK, which can say 65,535 bytes at most."},
    {.key = "congestion",
     .field = &Profile::congestion,
     .absent = "auto",
     .range = {},
     .phase = Phase::handshake,
     .how = tcp(TCP_CONGESTION, "TCP_CONGESTION", Encoding::text),
     .since = {2, 6},
     .says = "Congestion control by name, one of net.ipv4.tcp_available_congestion_control."},
    {.key = "pace",
     .field = &Profile::pace,
     .absent = "off",
     .range = {8'000, UINT64_MAX},
     .phase = Phase::relay,
     .how = InRelay{},
     .since = kOld,
     .says = "Rate at which leaves what follows a burst."},
    {.key = "burst",
     .field = &Profile::burst,
     .absent = "off",
     .range = {512, UINT64_MAX},
     .phase = Phase::relay,
     .how = InRelay{},
     .since = kOld,
     .says = "Bytes that leave at once before `pace` holds back the rest."},
    {.key = "unsent_limit",
     .field = &Profile::unsent_limit,
     .absent = "off",
     .range = {1, INT32_MAX},
     .phase = Phase::connection,
     .how = tcp(TCP_NOTSENT_LOWAT, "TCP_NOTSENT_LOWAT"),
     .since = {3, 12},
     .says = "Unsent bytes that the kernel queues at most; low values keep data fresh and cost throughput."},
    {.key = "rto_min",
     .field = &Profile::rto_min,
     .absent = "auto",
     .range = kTick,
     .phase = Phase::connection,
     .how = tcp(kTcpRtoMinUs, "TCP_RTO_MIN_US", Encoding::microseconds),
     .since = {6, 15},
     .says = "Shortest retransmission timeout; the kernel's own is 200 ms."},
    {.key = "rto_max",
     .field = &Profile::rto_max,
     .absent = "auto",
     .range = {kSecond, 120 * kSecond},
     .phase = Phase::connection,
     .how = tcp(kTcpRtoMaxMs, "TCP_RTO_MAX_MS", Encoding::milliseconds),
     .since = {6, 15},
     .says =
         "Longest retransmission timeout; lower resumes sooner after an outage, and gives up sooner too."},
    {.key = "delayed_ack_max",
     .field = &Profile::delayed_ack_max,
     .absent = "auto",
     .range = kTick,
     .phase = Phase::connection,
     .how = tcp(kTcpDelackMaxUs, "TCP_DELACK_MAX_US", Encoding::microseconds),
     .since = {6, 15},
     .says = "Longest that an ACK is delayed on this leg where quickack does not send it at once."},
    {.key = "timestamps",
     .field = &Profile::timestamps,
     .absent = "auto",
     .range = {},
     .phase = Phase::handshake,
     .how = Stripped{"timestamp"},
     .since = kOld,
     .says = "Whether the leg offers TCP timestamps (12 bytes a segment)."},
    {.key = "sack",
     .field = &Profile::sack,
     .absent = "auto",
     .range = {},
     .phase = Phase::handshake,
     .how = Stripped{"sack-perm"},
     .since = kOld,
     .says = "Whether the leg offers selective acknowledgements."},
    {.key = "keepalive",
     .field = &Profile::keepalive,
     .absent = {},
     .range = {},
     .phase = Phase::connection,
     .how = sol(SO_KEEPALIVE, "SO_KEEPALIVE", Encoding::flag),
     .since = kOld,
     .says = "Probes a silent peer, so that a dead one is found; each end's own probes end at headrace."},
    {.key = "keepalive_idle",
     .field = &Profile::keepalive_idle,
     .absent = {},
     .range = kKeepaliveTime,
     .phase = Phase::connection,
     .how = tcp(TCP_KEEPIDLE, "TCP_KEEPIDLE", Encoding::seconds),
     .since = kOld,
     .says = "Silence before the first probe.",
     .only_with = &Profile::keepalive},
    {.key = "keepalive_interval",
     .field = &Profile::keepalive_interval,
     .absent = {},
     .range = kKeepaliveTime,
     .phase = Phase::connection,
     .how = tcp(TCP_KEEPINTVL, "TCP_KEEPINTVL", Encoding::seconds),
     .since = kOld,
     .says = "Time between probes that are not answered.",
     .only_with = &Profile::keepalive},
    {.key = "keepalive_count",
     .field = &Profile::keepalive_count,
     .absent = {},
     .range = {1, 127},
     .phase = Phase::connection,
     .how = tcp(TCP_KEEPCNT, "TCP_KEEPCNT"),
     .since = kOld,
     .says = "Probes without an answer after which the peer is dead.",
     .only_with = &Profile::keepalive},
    {.key = "user_timeout",
     .field = &Profile::user_timeout,
     .absent = "off",
     .range = {kMilli, static_cast<std::uint64_t>(INT32_MAX) * kMilli},
     .phase = Phase::connection,
     .how = tcp(TCP_USER_TIMEOUT, "TCP_USER_TIMEOUT", Encoding::milliseconds),
     .since = {2, 6},
     .says = "Longest that sent data may stay unacknowledged; also kills a paused reader whose window is "
             "closed."},
    // Handshake, so that the SYN-ACK is marked as well. "preserve" makes no call here: the relay carries it.
    {.key = "dscp",
     .field = &Profile::dscp,
     .absent = "preserve",
     .range = {0, 63},
     .phase = Phase::handshake,
     .how = kTrafficClass,
     .since = kOld,
     .says = "Marking of this leg's packets; preserve carries the client's to the server leg, and leaves the "
             "client leg unmarked: the server's cannot be known."},
    {.key = "thin_stream",
     .field = &Profile::thin_stream,
     .absent = {},
     .range = {},
     .phase = Phase::connection,
     .how = tcp(TCP_THIN_LINEAR_TIMEOUTS, "TCP_THIN_LINEAR_TIMEOUTS", Encoding::flag),
     .since = {2, 6},
     .says = "Up to six timeouts without exponential backoff while fewer than four segments are in flight."},
    {.key = "fast_open",
     .field = &Profile::fast_open,
     .absent = {},
     .range = {},
     .phase = Phase::handshake,
     .how = PerSide{kFastOpenListener, tcp(TCP_FASTOPEN_CONNECT, "TCP_FASTOPEN_CONNECT", Encoding::flag)},
     .since = {4, 11},
     .says = "Data in the SYN where both ends agree; middleboxes that drop it make connections hang."},
    // The server leg makes no call: proxy/socket sets one mark there, intercept's server mark with this one
    // ORed in.
    {.key = "mark",
     .field = &Profile::mark,
     .absent = "off",
     .range = {1, UINT32_MAX},
     .phase = Phase::handshake,
     .how = PerSide{sol(SO_MARK, "SO_MARK"), {}},
     .since = kOld,
     .says = "Firewall mark of this leg's packets, for the host's own routing rules; bits outside "
             "intercept.mark's mask."},
}};

}  // namespace

std::span<const LegSetting> leg_settings() { return kSettings; }

const LegSetting* find_leg_setting(std::string_view key) {
  const auto* end = kSettings.data() + kSettings.size();
  const auto* found =
      std::find_if(kSettings.data(), end, [&](const LegSetting& row) { return row.key == key; });
  return found == end ? nullptr : found;
}

}  // namespace headrace
