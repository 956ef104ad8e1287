// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/flow_trace.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace headrace::lab {
namespace {

double seconds_after(const Packet& packet, std::chrono::nanoseconds start) {
  return std::chrono::duration<double>(packet.time - start).count();
}

// The first such connection that was accepted, as the client's device saw it.
struct Opening {
  std::chrono::nanoseconds at{0};
  std::uint16_t local = 0, remote = 0;
  std::uint32_t their_first = 0, our_first = 0;  // sequence number of the first byte
  int their_scale = 0;

  bool has(const Packet& packet) const {
    return packet.outgoing ? packet.from_port == local && packet.to_port == remote
                           : packet.from_port == remote && packet.to_port == local;
  }
};

std::optional<Opening> find_opening(const std::vector<Packet>& packets, const IsRemotePort& wanted) {
  for (const Packet& packet : packets) {
    if (packet.outgoing || !packet.syn || !packet.ack || !wanted(packet.from_port)) continue;
    Opening opening{packet.time, packet.to_port, packet.from_port, packet.seq + 1, packet.acknowledges};
    opening.their_scale = packet.window_scale.value_or(0);
    return opening;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Packet> all_packets(const Capture& capture) {
  std::vector<Packet> packets = capture.packets();
  if (const std::size_t missed = capture.missed(); missed > 0)
    throw std::runtime_error("the capture has missed " + std::to_string(missed) + " packets");
  return packets;
}

DownloadTrace trace_download(const std::vector<Packet>& packets, const IsRemotePort& wanted) {
  DownloadTrace trace;
  const auto opening = find_opening(packets, wanted);
  if (!opening) return trace;
  std::uint64_t most = 0;  // the end that the server's FIN announces counts as a byte: not ours
  std::optional<std::uint32_t> end;
  for (const Packet& packet : packets) {
    if (!opening->has(packet) || packet.syn) continue;
    if (!packet.outgoing) {
      if (packet.payload > 0 && trace.segment == 0) trace.first_data = seconds_after(packet, opening->at);
      trace.segment = std::max(trace.segment, packet.payload);
      if (packet.fin) end = packet.seq + static_cast<std::uint32_t>(packet.payload) - opening->their_first;
      continue;
    }
    std::uint64_t bytes = packet.acknowledges - opening->their_first;
    if (end) bytes = std::min<std::uint64_t>(bytes, *end);
    if (!packet.ack || bytes <= most || bytes > UINT32_MAX / 2) continue;
    most = bytes;
    trace.acknowledged.push_back({seconds_after(packet, opening->at), bytes});
  }
  return trace;
}

std::uint64_t bytes_to_client(const std::vector<Packet>& sent, const IsRemotePort& wanted) {
  std::uint64_t sum = 0;
  for (const Packet& packet : sent) {
    if (packet.outgoing && wanted(packet.from_port)) sum += packet.size;
  }
  return sum;
}

UploadTrace trace_upload(const std::vector<Packet>& packets, const IsRemotePort& wanted) {
  UploadTrace trace;
  const auto opening = find_opening(packets, wanted);
  if (!opening) return trace;
  for (const Packet& packet : packets) {
    if (!opening->has(packet) || packet.syn) continue;
    const double at = seconds_after(packet, opening->at);
    const std::uint32_t from = opening->our_first;
    if (packet.outgoing) {
      if (packet.payload > 0)
        trace.sent.emplace_back(at, packet.seq + static_cast<std::uint32_t>(packet.payload) - from);
      continue;
    }
    const double acknowledged = packet.acknowledges - from;
    trace.allowed.emplace_back(at, acknowledged + (packet.window << opening->their_scale));
  }
  return trace;
}

}  // namespace headrace::lab
