// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/flow_trace.hpp"

#include "tests/test.hpp"

namespace headrace::lab {
namespace {

constexpr std::uint16_t kClientPort = 40000, kDataPort = 50003;
constexpr std::uint32_t kTheirs = 0xffff'ff00, kOurs = 1000;  // numbers wrap in the middle of the stream

bool is_data(std::uint16_t port) { return port == kDataPort; }

Packet at(int milliseconds, bool outgoing) {
  Packet packet;
  packet.time = std::chrono::milliseconds(milliseconds);
  packet.outgoing = outgoing;
  packet.from_port = outgoing ? kClientPort : kDataPort;
  packet.to_port = outgoing ? kDataPort : kClientPort;
  packet.ack = true;
  packet.size = 40;
  return packet;
}

Packet syn_ack(int milliseconds) {
  Packet packet = at(milliseconds, false);
  packet.syn = true;
  packet.seq = kTheirs - 1;
  packet.acknowledges = kOurs;
  packet.window_scale = 2;
  return packet;
}

Packet data(int milliseconds, bool outgoing, std::uint32_t offset, std::size_t payload) {
  Packet packet = at(milliseconds, outgoing);
  packet.seq = (outgoing ? kOurs : kTheirs) + offset;
  packet.payload = payload;
  packet.size += payload;
  return packet;
}

Packet ack(int milliseconds, bool outgoing, std::uint32_t offset) {
  Packet packet = at(milliseconds, outgoing);
  packet.acknowledges = (outgoing ? kTheirs : kOurs) + offset;
  packet.window = 100;
  return packet;
}

}  // namespace

TEST_CASE(
    "flow trace: a download is what the client acknowledged since the SYN-ACK, once and without the FIN") {
  Packet last = data(1400, false, 700, 100);
  last.fin = true;
  const DownloadTrace trace =
      trace_download({syn_ack(1000), data(1200, false, 0, 700), ack(1210, true, 700),
                      data(1300, false, 0, 700), ack(1310, true, 700), last, ack(1410, true, 801)},
                     is_data);
  CHECK(trace.first_data == Approx(0.2));
  CHECK(trace.segment == 700);
  REQUIRE(trace.acknowledged.size() == 2);
  CHECK(trace.acknowledged[0].at == Approx(0.21));
  CHECK(trace.acknowledged[0].bytes == 700);
  CHECK(trace.acknowledged[1].bytes == 800);
}

TEST_CASE("flow trace: a connection to another port is not the one") {
  Packet other = syn_ack(1);
  other.from_port = 21;
  CHECK(trace_download({other}, is_data).acknowledged.empty());
}

TEST_CASE("flow trace: bytes on the wire are of whole packets that leave, retransmissions too") {
  Packet sent = data(1, true, 0, 960);
  sent.from_port = kDataPort;
  sent.to_port = kClientPort;
  CHECK(bytes_to_client({sent, sent, ack(2, false, 960)}, is_data) == 2000);
}

TEST_CASE("flow trace: an upload may send up to what is acknowledged and the scaled window") {
  const UploadTrace trace = trace_upload({syn_ack(0), data(10, true, 0, 500), ack(130, false, 500)}, is_data);
  REQUIRE(trace.sent.size() == 1);
  CHECK(trace.sent[0].second == 500);
  REQUIRE(trace.allowed.size() == 1);
  CHECK(trace.allowed[0].first == Approx(0.13));
  CHECK(trace.allowed[0].second == 900);
}

}  // namespace headrace::lab
