// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

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
// takes it back. Through a forwarder the client knows this host only: there the server's answer goes on with
// a place of ours. Owned by the session, on its worker's thread.
class FtpFollower {
 public:
  // How the control session came, whose decision has `data`, and where the client has connected to.
  FtpFollower(DataHost& host, Origin origin, const Flow& flow, std::shared_ptr<const DataDecisions> data,
              const Endpoint& here);
  ~FtpFollower();
  FtpFollower(const FtpFollower&) = delete;
  FtpFollower& operator=(const FtpFollower&) = delete;

  StreamTap& commands() { return commands_; }
  StreamTap& replies() { return replies_; }

  // A transfer is under way: the quiet of the control channel means nothing.
  bool is_busy() const { return control_.is_transferring() || activity_->is_live(); }
  Instant last_ended() const { return activity_->last_ended(); }

  Instant next_deadline() const { return listening_until_; }
  void tick(Instant now);

 private:
  class Commands final : public StreamTap {
   public:
    explicit Commands(FtpFollower& follower) : follower_{follower} {}
    std::span<const std::byte> pass(std::span<const std::byte> bytes, bool mark) noexcept override;
    std::span<const std::byte> end() noexcept override { return {}; }

   private:
    FtpFollower& follower_;
    FtpLines lines_;
  };

  class Replies final : public StreamTap {
   public:
    explicit Replies(FtpFollower& follower) : follower_{follower} {}
    std::span<const std::byte> pass(std::span<const std::byte> bytes, bool mark) noexcept override;
    std::span<const std::byte> end() noexcept override;

   private:
    void follow(std::span<const std::byte> bytes);
    void rewrite(std::span<const std::byte> bytes);
    void finish_line();

    FtpFollower& follower_;
    FtpLines lines_;
    std::string held_;   // of a line that may have to be another: as it came
    bool gone_ = false;  // some of the line is on its way already
    std::string out_;
  };

  void heed(const FtpEvent& event);
  // The answer with a place of ours; nothing where there can be none.
  std::optional<std::string> answer(std::string_view line, const FtpEvent& event);
  void withdraw();

  DataHost& host_;
  Origin origin_;
  Flow flow_;
  std::shared_ptr<const DataDecisions> data_;
  Endpoint here_;
  FtpControl control_;
  std::shared_ptr<DataActivity> activity_ = std::make_shared<DataActivity>();
  std::optional<ExpectedData> expected_;  // by the packet filter
  std::optional<Endpoint> listening_;     // for a forwarder's
  Instant listening_until_ = Instant::max();
  Commands commands_{*this};
  Replies replies_{*this};
};

}  // namespace headrace
