// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/ftp_follower.hpp"

#include <utility>

namespace headrace {
namespace {

std::shared_ptr<const Decision> part(const std::shared_ptr<const DataDecisions>& data,
                                     const Decision DataDecisions::*which) {
  return {data, &((*data).*which)};
}

}  // namespace

FtpFollower::FtpFollower(DataHost& host, Origin origin, const Flow& flow,
                         std::shared_ptr<const DataDecisions> data, const Endpoint& here)
    : host_{host},
      origin_{origin},
      flow_{flow},
      data_{std::move(data)},
      here_{here},
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

// In active mode the server connects, to a client whose address it knows: only where it sees the client's own
// is there one to expect.
void FtpFollower::heed(const FtpEvent& event) {
  if (event.kind == FtpEvent::Kind::nothing) return;
  withdraw();
  if (origin_ == Origin::forward) return;
  const IpAddress& client = flow_.client.value.address;
  if (event.kind == FtpEvent::Kind::passive)
    expected_ = {client, event.at, part(data_, &DataDecisions::passive), client, activity_};
  if (event.kind == FtpEvent::Kind::active && origin_ == Origin::tproxy)
    expected_ = {flow_.destination.value.address, event.at, part(data_, &DataDecisions::active), client,
                 activity_};
  if (expected_) host_.expect(*expected_);
}

std::optional<std::string> FtpFollower::answer(std::string_view line, const FtpEvent& event) {
  withdraw();
  if (!event.extended && !here_.address.is_v4()) return std::nullopt;  // 227 has no words for IPv6
  const IpAddress& client = flow_.client.value.address;
  Endpoint to = flow_.destination.value;  // with its scope
  to.port = event.at.port;
  const ExpectedData data{client, to, part(data_, &DataDecisions::passive), client, activity_};
  Endpoint at = here_;
  at.port = host_.listen_for(data, here_);
  if (at.port == 0) return std::nullopt;
  listening_ = at;
  listening_until_ = host_.now() + ExpectedConnections::kLife;
  std::string ours{line};
  return ours.replace(event.begin, event.length,
                      event.extended ? std::to_string(at.port) : print_ftp_place(at));
}

std::span<const std::byte> FtpFollower::Commands::pass(std::span<const std::byte> bytes, bool) noexcept {
  FtpControl& control = follower_.control_;
  for (auto rest = bytes; !rest.empty() && !control.is_opaque();) {
    rest = rest.subspan(lines_.read(rest));
    if (lines_.is_binary()) control.become_opaque();
    if (!lines_.is_complete()) break;
    follower_.heed(control.command(lines_.line()));
    lines_.next();
  }
  return bytes;
}

std::span<const std::byte> FtpFollower::Replies::pass(std::span<const std::byte> bytes, bool mark) noexcept {
  if (follower_.origin_ != Origin::forward) {
    follow(bytes);
    return bytes;
  }
  out_.clear();
  rewrite(bytes);
  if (mark || !follower_.control_.awaits_place() || held_.size() > FtpLines::kMostLine) {
    gone_ |= !held_.empty();
    out_ += std::exchange(held_, {});
  }
  return std::as_bytes(std::span{out_});
}

std::span<const std::byte> FtpFollower::Replies::end() noexcept {
  out_ = std::exchange(held_, {});
  return std::as_bytes(std::span{out_});
}

void FtpFollower::Replies::follow(std::span<const std::byte> bytes) {
  FtpControl& control = follower_.control_;
  while (!bytes.empty() && !control.is_opaque()) {
    bytes = bytes.subspan(lines_.read(bytes));
    if (lines_.is_binary()) control.become_opaque();
    if (!lines_.is_complete()) return;
    follower_.heed(control.reply(lines_.line()));
    lines_.next();
  }
}

void FtpFollower::Replies::rewrite(std::span<const std::byte> bytes) {
  FtpControl& control = follower_.control_;
  while (!bytes.empty()) {
    const std::size_t taken = control.is_opaque() ? bytes.size() : lines_.read(bytes);
    held_.append(reinterpret_cast<const char*>(bytes.data()), taken);
    bytes = bytes.subspan(taken);
    if (lines_.is_binary()) control.become_opaque();
    if (control.is_opaque()) continue;
    if (!lines_.is_complete()) return;
    finish_line();
  }
}

// A line of which the client has a part already stays as it is: too late for a place of ours.
void FtpFollower::Replies::finish_line() {
  const FtpEvent event = follower_.control_.reply(lines_.line());
  const bool is_whole = !gone_ && held_.size() <= FtpLines::kMostLine;
  std::optional<std::string> ours;
  if (event.kind == FtpEvent::Kind::passive && is_whole) ours = follower_.answer(lines_.line(), event);
  out_ += ours ? *ours + "\r\n" : held_;
  held_.clear();
  gone_ = false;
  lines_.next();
}

}  // namespace headrace
