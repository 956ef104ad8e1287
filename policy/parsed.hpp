// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace headrace {

// What was wrong with a piece of text and, in brackets, what is accepted. Has no place: whoever read
// the text knows the file, line and column and adds them.
struct Complaint {
  std::string text;
};

// A value, or the reason why the text was not one. A value type; thrown nowhere.
template <class T>
class [[nodiscard]] Parsed {
 public:
  Parsed(T value) : state_{std::move(value)} {}
  Parsed(Complaint complaint) : state_{std::move(complaint)} {}

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const { return std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const std::string& complaint() const { return std::get<1>(state_).text; }

 private:
  std::variant<T, Complaint> state_;
};

}  // namespace headrace
