// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "bench/lab/capture.hpp"
#include "bench/lab/packet.hpp"
#include "bench/speed/timeline.hpp"

// What a capture at the client tells of one connection. Pure, but for all_packets().
namespace headrace::lab {

// What was captured so far. Throws std::runtime_error where the kernel dropped some: sums would be too small.
std::vector<Packet> all_packets(const Capture& capture);

// Whether a connection of the client to that port is the one.
using IsRemotePort = std::function<bool(std::uint16_t)>;

// A download as the client acknowledged it: in order, by the client's own ACKs. Retransmissions count once.
struct DownloadTrace {
  Timeline acknowledged;    // since the SYN-ACK arrived
  double first_data = 0;    // when the first data segment arrived, likewise
  std::size_t segment = 0;  // payload of the largest segment
};
DownloadTrace trace_download(const std::vector<Packet>& packets, const IsRemotePort& wanted);

// IP bytes that go towards the client on such connections, headers and retransmissions included.
std::uint64_t bytes_to_client(const std::vector<Packet>& sent, const IsRemotePort& wanted);

// An upload as the client sees it: what it has sent, and up to where it may send.
struct UploadTrace {
  std::vector<std::pair<double, double>> sent, allowed;  // seconds, bytes of the stream
};
UploadTrace trace_upload(const std::vector<Packet>& packets, const IsRemotePort& wanted);

}  // namespace headrace::lab
