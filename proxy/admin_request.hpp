// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// What is said on the control socket, as text: one line of JSON each way. Pure; whoever may connect may send
// anything, so tests/fuzz feeds it that.
namespace headrace {

constexpr std::size_t kLongestAdminRequest = 4096;

struct AdminRequest {
  std::string verb;
  std::string argument;  // may be empty
};

// Throws std::exception that says what is wrong with the line.
AdminRequest parse_admin_request(const std::string& line);
std::string render_admin_request(const AdminRequest& request);
std::string render_admin_failure(std::string_view error);

// A request as recv() brings it, in pieces.
class AdminRequestLine {
 public:
  // The line without its end, once that has come and the whole is not too long.
  std::optional<std::string> add(std::string_view piece);
  bool is_too_long() const { return text_.size() > kLongestAdminRequest; }

 private:
  std::string text_;
};

}  // namespace headrace
