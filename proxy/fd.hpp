// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <unistd.h>

#include <utility>

namespace headrace {

// One descriptor. Move-only; the only thing in the program that closes one. Empty is -1, never 0.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int descriptor) : descriptor_{descriptor} {}
  Fd(Fd&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = std::exchange(other.descriptor_, -1);
    }
    return *this;
  }
  ~Fd() { close(); }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_ = -1;
};

}  // namespace headrace
