// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/pump.hpp"

namespace headrace {

// What passed through a session. An exchange begins when bytes to the server follow bytes to the client,
// or the session's start, and ends at the last byte to the client before the next one begins.
struct Traffic {
  std::uint64_t to_server = 0;  // bytes, as they were read
  std::uint64_t to_client = 0;
  std::uint64_t exchanges = 0;
  // Of these, the ones after which the client asked again without a pause: from the first byte of the
  // answer to the first byte of the next request lie the round trips that the answer took.
  std::uint64_t timed_exchanges = 0;
  std::chrono::nanoseconds answer_time{0};
};

// The two pumps of a session and what they share. Borrows the legs; on its worker's thread.
class Relay {
 public:
  Relay(Leg& client, Leg& server, const PumpSettings& to_server, const PumpSettings& to_client)
      : client_{client}, to_server_{client, server, to_server}, to_client_{server, client, to_client} {}

  // Moves what both directions can move now. True when bytes moved.
  bool run(WorkerResources& resources);
  bool has_more() const { return to_server_.has_more() || to_client_.has_more(); }
  // What one round trip to the client takes. Unset, the kernel is asked when it is first needed: a session of
  // one exchange never does.
  void set_client_rtt(std::chrono::nanoseconds rtt) { client_rtt_ = rtt; }
  // What each leg's bytes look like on the wire.
  void set_shapes(SegmentShape client, SegmentShape server) {
    to_client_.set_shape(client);
    to_server_.set_shape(server);
  }
  // Both outlive this; before the first run().
  void set_taps(StreamTap& to_server, StreamTap& to_client) {
    to_server_.set_tap(to_server);
    to_client_.set_tap(to_client);
  }
  bool is_finished() const { return is_over(to_server_) && is_over(to_client_); }
  bool is_half_closed() const { return is_over(to_server_) != is_over(to_client_); }

  Instant next_deadline() const;
  void tick(Instant now);
  void release(WorkerResources& resources);

  const Traffic& traffic() const { return traffic_; }
  const Pump& to_server() const { return to_server_; }
  const Pump& to_client() const { return to_client_; }

 private:
  enum class Turn : std::uint8_t { nobody, server, client };  // to whom bytes went last

  static bool is_over(const Pump& pump) { return pump.phase() == Pump::Phase::finished; }
  void count(std::uint64_t to_server, std::uint64_t to_client, Instant now);
  void time_answer(Instant now);

  const Leg& client_;
  Pump to_server_;
  Pump to_client_;
  Traffic traffic_;
  Turn turn_ = Turn::nobody;
  Instant answer_began_;
  std::optional<std::chrono::nanoseconds> client_rtt_;
};

}  // namespace headrace
