// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "policy/flow.hpp"
#include "proxy/expected_data.hpp"
#include "proxy/ftp_control.hpp"
#include "proxy/listener.hpp"
#include "proxy/loop.hpp"
#include "proxy/stream_tap.hpp"

namespace headrace {

// What a followed control session needs of its worker.
class DataHost {
 public:
  // The packet filter is to bring it.
  virtual void expect(const ExpectedData& data) = 0;
  virtual void forget(const ExpectedData& data) = 0;
  // Listens for it, once, at an address of this host: at which port, or 0 when that can't be had.
  virtual std::uint16_t listen_for(const ExpectedData& data, const Endpoint& here) = 0;
  virtual void stop_listening(const Endpoint& at) = 0;
  virtual Instant now() const = 0;

 protected:
  ~DataHost() = default;
};

// Follows the control channel of one FTP session: sees to it that the data connection it announces is
// expected before the announcement goes on. One at a time, as in FTP: the next replaces it, the session's end
// takes it back. Whoever knows this host where the other end would be (the client of a forwarder, the server
// unless it sees the client's own address) hears a place of ours instead. Owned by the session, on its
// worker's thread.
class FtpFollower {
 public:
  // How the control session came, whose decision has `data`, and where the client has connected to.
  FtpFollower(DataHost& host, Origin origin, const Flow& flow, std::shared_ptr<const DataDecisions> data,
              const Endpoint& here);
  ~FtpFollower();
  FtpFollower(const FtpFollower&) = delete;
  FtpFollower& operator=(const FtpFollower&) = delete;

  // As whom the session is connected to the server.
  void connected_as(const Endpoint& client) { as_ = client; }

  StreamTap& commands() { return commands_; }
  StreamTap& replies() { return replies_; }

  // A transfer is under way: the quiet of the control channel means nothing.
  bool is_busy() const { return control_.is_transferring() || activity_->is_live(); }
  Instant last_ended() const { return activity_->last_ended(); }

  Instant next_deadline() const { return listening_until_; }
  void tick(Instant now);

 private:
  enum class Direction : std::uint8_t { to_server, to_client };

  // One direction. Where a line may have to be another, it is held until it is whole.
  class Tap final : public StreamTap {
   public:
    Tap(FtpFollower& follower, Direction direction) : follower_{follower}, direction_{direction} {}
    std::span<const std::byte> pass(std::span<const std::byte> bytes, bool mark) noexcept override;
    std::span<const std::byte> end() noexcept override;

   private:
    void follow(std::span<const std::byte> bytes);
    void rewrite(std::span<const std::byte> bytes);
    void finish_line();

    FtpFollower& follower_;
    Direction direction_;
    FtpLines lines_;
    std::string held_;   // as it came
    bool gone_ = false;  // some of the line is on its way already
    std::string out_;
  };

  bool rewrites(Direction direction) const;
  // Whether a line that begins so may name a place.
  bool may_name_place(Direction direction, std::string_view begin) const;
  FtpEvent read(Direction direction, std::string_view line);
  void heed(const FtpEvent& event);
  // The line with a place of ours; nothing where there can be none, or need not be.
  std::optional<std::string> with_our_place(std::string_view line, const FtpEvent& event);
  ExpectedData expected(const FtpEvent& event) const;
  void withdraw();

  DataHost& host_;
  Origin origin_;
  Flow flow_;
  std::shared_ptr<const DataDecisions> data_;
  Endpoint here_;  // as the client knows us
  Endpoint as_;    // as the server does
  FtpControl control_;
  std::shared_ptr<DataActivity> activity_ = std::make_shared<DataActivity>();
  std::optional<ExpectedData> expected_;  // by the packet filter
  std::optional<Endpoint> listening_;     // at a place of ours
  Instant listening_until_ = Instant::max();
  Tap commands_{*this, Direction::to_server};
  Tap replies_{*this, Direction::to_client};
};

}  // namespace headrace
