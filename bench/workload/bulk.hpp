// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "bench/lab/socket.hpp"

namespace headrace::lab {

enum class BulkDirection { upload, download };

// Many bytes one way, all of them checked by a checksum that order, loss and change upset.
struct BulkSettings {
  BulkDirection direction = BulkDirection::download;
  std::uint64_t size = 10'000'000;
  std::uint64_t seed = 1;
  std::string congestion;                   // of the client's end
  std::chrono::nanoseconds timeout = 120s;  // for the whole transfer
};

struct BulkReport {
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds time{0};  // from established to the last byte received
  bool intact = false;
  double rate() const;  // payload bit/s
};

// From the calling thread's namespace. Throws std::runtime_error when the connection doesn't carry it.
BulkReport run_bulk(const std::string& server, const BulkSettings& settings);

// One transfer; the client says first which.
void serve_bulk(const Socket& connection);

}  // namespace headrace::lab
