// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/admin_request.hpp"

#include <nlohmann/json.hpp>

namespace headrace {

using nlohmann::json;

AdminRequest parse_admin_request(const std::string& line) {
  const json request = json::parse(line);
  return {request.at("verb").get<std::string>(), request.value("argument", std::string{})};
}

std::string render_admin_request(const AdminRequest& request) {
  return json{{"verb", request.verb}, {"argument", request.argument}}.dump();
}

// An error may quote what was sent, which need not be UTF-8.
std::string render_admin_failure(std::string_view error) {
  return json{{"ok", false}, {"error", error}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<std::string> AdminRequestLine::add(std::string_view piece) {
  text_ += piece;
  const auto end = text_.find('\n');
  if (is_too_long() || end == std::string::npos) return std::nullopt;
  return text_.substr(0, end);
}

}  // namespace headrace
