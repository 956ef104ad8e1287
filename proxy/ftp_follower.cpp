// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/ftp_follower.hpp"

#include <utility>

namespace headrace {
namespace {

std::shared_ptr<const Decision> part(const std::shared_ptr<const DataDecisions>& data, bool passive) {
  return {data, passive ? &data->passive : &data->active};
}

bool is_place(const FtpEvent& event) {
  return event.kind == FtpEvent::Kind::passive || event.kind == FtpEvent::Kind::active;
}

// As the words of the line want it; nothing when these have no room for IPv6.
std::optional<std::string> print_place(const Endpoint& place, const FtpEvent& event) {
  const bool is_v4 = place.address.is_v4();
  if (!event.extended) return is_v4 ? std::optional{print_ftp_place(place)} : std::nullopt;
  const std::string port = std::to_string(place.port);
  if (event.kind == FtpEvent::Kind::passive) return port;
  return (is_v4 ? "|1|" : "|2|") + print(place.address) + "|" + port + "|";
}

}  // namespace

FtpFollower::FtpFollower(DataHost& host, Origin origin, const Flow& flow,
                         std::shared_ptr<const DataDecisions> data, const Endpoint& here)
    : host_{host},
      origin_{origin},
      flow_{flow},
      data_{std::move(data)},
      here_{here},
      as_{flow.client.value},
      control_{flow.client.value.address, flow.destination.value.address} {}

FtpFollower::~FtpFollower() { withdraw(); }

void FtpFollower::tick(Instant now) {
  if (listening_until_ <= now) withdraw();
}

void FtpFollower::withdraw() {
  if (const auto expected = std::exchange(expected_, std::nullopt)) host_.forget(*expected);
  if (const auto listening = std::exchange(listening_, std::nullopt)) host_.stop_listening(*listening);
  listening_until_ = Instant::max();
}

// The client knows the server by its address unless it has connected to ours; the server sees the client's
// unless its leg is connected as the proxy.
bool FtpFollower::rewrites(Direction direction) const {
  if (control_.is_opaque()) return false;
  if (direction == Direction::to_client) return origin_ == Origin::forward;
  return as_.address != flow_.client.value.address;
}

bool FtpFollower::may_name_place(Direction direction, std::string_view begin) const {
  if (direction == Direction::to_client) return control_.awaits_place();
  return !begin.empty() && std::string_view{"PpEe"}.find(begin.front()) != std::string_view::npos;
}

FtpEvent FtpFollower::read(Direction direction, std::string_view line) {
  return direction == Direction::to_server ? control_.command(line) : control_.reply(line);
}

// Of a passive place the client is the one to connect, of an active one the server.
ExpectedData FtpFollower::expected(const FtpEvent& event) const {
  const bool passive = event.kind == FtpEvent::Kind::passive;
  const Endpoint& client = flow_.client.value;
  const Endpoint& server = flow_.destination.value;
  Endpoint to = passive ? server : client;  // with its scope
  to.port = event.at.port;
  return {passive ? client.address : server.address, to, part(data_, passive), client.address, {}, activity_};
}

void FtpFollower::heed(const FtpEvent& event) {
  if (event.kind == FtpEvent::Kind::nothing) return;
  withdraw();
  const bool passive = event.kind == FtpEvent::Kind::passive;
  if (!is_place(event) || rewrites(passive ? Direction::to_client : Direction::to_server)) return;
  expected_ = expected(event);
  host_.expect(*expected_);
}

std::optional<std::string> FtpFollower::with_our_place(std::string_view line, const FtpEvent& event) {
  ExpectedData data = expected(event);
  const bool passive = event.kind == FtpEvent::Kind::passive;
  Endpoint ours = passive ? here_ : as_;
  if (!print_place(ours, event)) return std::nullopt;
  // Clients may look whether data comes from where they have connected to.
  if (!passive && origin_ == Origin::forward) data.as = {here_.address, 0, here_.scope};
  ours.port = host_.listen_for(data, ours);
  if (ours.port == 0) return std::nullopt;
  listening_ = ours;
  listening_until_ = host_.now() + ExpectedConnections::kLife;
  return std::string{line}.replace(event.begin, event.length, *print_place(ours, event));
}

std::span<const std::byte> FtpFollower::Tap::pass(std::span<const std::byte> bytes, bool mark) noexcept {
  if (held_.empty() && !follower_.rewrites(direction_)) {
    follow(bytes);
    return bytes;
  }
  out_.clear();
  rewrite(bytes);
  if (mark || held_.size() > FtpLines::kMostLine || !follower_.may_name_place(direction_, held_)) {
    gone_ |= !held_.empty();
    out_ += std::exchange(held_, {});
  }
  return std::as_bytes(std::span{out_});
}

std::span<const std::byte> FtpFollower::Tap::end() noexcept {
  out_ = std::exchange(held_, {});
  return std::as_bytes(std::span{out_});
}

void FtpFollower::Tap::follow(std::span<const std::byte> bytes) {
  FtpControl& control = follower_.control_;
  while (!bytes.empty() && !control.is_opaque()) {
    bytes = bytes.subspan(lines_.read(bytes));
    if (lines_.is_binary()) control.become_opaque();
    if (!lines_.is_complete()) return;
    follower_.heed(follower_.read(direction_, lines_.line()));
    lines_.next();
  }
}

void FtpFollower::Tap::rewrite(std::span<const std::byte> bytes) {
  FtpControl& control = follower_.control_;
  while (!bytes.empty()) {
    const std::size_t taken = control.is_opaque() ? bytes.size() : lines_.read(bytes);
    held_.append(reinterpret_cast<const char*>(bytes.data()), taken);
    bytes = bytes.subspan(taken);
    if (lines_.is_binary()) control.become_opaque();
    if (control.is_opaque()) {
      out_ += std::exchange(held_, {});
      continue;
    }
    if (!lines_.is_complete()) return;
    finish_line();
  }
}

// A line of which the reader has a part already stays as it is: too late for a place of ours.
void FtpFollower::Tap::finish_line() {
  const FtpEvent event = follower_.read(direction_, lines_.line());
  follower_.heed(event);
  std::optional<std::string> ours;
  if (is_place(event) && !gone_ && held_.size() <= FtpLines::kMostLine)
    ours = follower_.with_our_place(lines_.line(), event);
  out_ += ours ? *ours + "\r\n" : held_;
  held_.clear();
  gone_ = false;
  lines_.next();
}

}  // namespace headrace
