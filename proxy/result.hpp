// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headrace {

// A system call that failed on the data path: what was attempted and errno. A value; never thrown there.
struct SystemError {
  std::string_view attempt;  // a literal: "connect", "recv"
  int code = 0;              // errno
};

std::string print(const SystemError& error);  // "connect: Connection refused"

// A value or the SystemError that kept it from being. The data path's only way to fail.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_{std::move(value)} {}
  Result(SystemError error) : state_{error} {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const SystemError& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, SystemError> state_;
};

// A broken invariant of ours, never something a peer or the environment can cause. Stays on in release:
// the process dies, new flows go straight to the server, the service manager starts us again.
#define HEADRACE_INVARIANT(condition) \
  ((condition) ? static_cast<void>(0) : ::headrace::invariant_broken(#condition, __FILE__, __LINE__))
[[noreturn]] void invariant_broken(const char* condition, const char* file, int line);

}  // namespace headrace
