// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <span>

namespace headrace {

// Sees the bytes of one direction after they were read and before they are sent on, and says what goes on in
// their place: mostly the same bytes. What is returned lives until the next call. On the session's thread.
class StreamTap {
 public:
  // Less than was given, or nothing, when some of it is to wait for what comes next. Of bytes with `mark` the
  // last is urgent: it is the last of what is returned, and nothing waits.
  virtual std::span<const std::byte> pass(std::span<const std::byte> bytes, bool mark) noexcept = 0;
  // The stream is over: what still waits. A second call returns nothing.
  virtual std::span<const std::byte> end() noexcept = 0;

 protected:
  ~StreamTap() = default;
};

}  // namespace headrace
