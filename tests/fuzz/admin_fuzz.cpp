// SPDX-License-Identifier: GPL-3.0-or-later
// A request to the control socket, in pieces: it is understood or refused with JSON that says so; what is
// understood is understood again when it is rendered; pieces make no difference; nothing beyond the limit is
// taken.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "proxy/admin_request.hpp"

namespace {

using namespace headrace;

void check(bool holds) {
  if (!holds) std::abort();
}

std::optional<std::string> in_pieces(std::string_view text, std::size_t size) {
  AdminRequestLine line;
  for (std::size_t at = 0; at < text.size() && !line.is_too_long(); at += size)
    if (auto whole = line.add(text.substr(at, size))) return whole;
  return std::nullopt;
}

void check_refusal(const char* what) {
  const auto answer = nlohmann::json::parse(render_admin_failure(what));
  check(answer.at("ok") == false && answer.at("error").is_string());
}

void check_line(const std::string& line) {
  AdminRequest request;
  try {
    request = parse_admin_request(line);
  } catch (const std::exception& error) {
    return check_refusal(error.what());
  }
  const AdminRequest again = parse_admin_request(render_admin_request(request));
  check(again.verb == request.verb && again.argument == request.argument);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes{data + 1, data + size};
  const auto line = in_pieces(bytes, 1 + data[0]);
  if (!line) return 0;
  check(line->size() <= kLongestAdminRequest && line->find('\n') == std::string::npos);
  check(in_pieces(bytes, 1) == line);
  check_line(*line);
  return 0;
}
