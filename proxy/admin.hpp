// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "proxy/fd.hpp"
#include "proxy/log.hpp"
#include "proxy/loop.hpp"

// The control socket: one request a connection, one line of JSON each way. {"verb": "bypass", "argument":
// "on"} is answered by {"ok": true, ...} or {"ok": false, "error": "..."}; docs/control-socket.md lists the
// verbs.
namespace headrace {

// A verb and its one argument (may be empty) to an answer, one JSON object as text. Throws
// std::runtime_error for what goes back as {"ok": false}.
using AdminHandler = std::function<std::string(const std::string& verb, const std::string& argument)>;

// The daemon's end. Main thread. Requests over 4 KiB are refused, and of more than 16 connections the oldest
// is closed.
class AdminServer final : public Watcher {
 public:
  // Throws std::runtime_error. Replaces a socket that nobody answers any more; 0660.
  AdminServer(Loop& loop, Log& log, const std::string& path, AdminHandler handler);
  ~AdminServer();  // removes the socket
  void on_ready(unsigned tag, Events events) noexcept override;
  void reap();  // after each turn: forgets connections that are done

 private:
  class Connection;
  void accept_all();

  Loop& loop_;
  Log& log_;
  std::string path_;
  AdminHandler handler_;
  Fd listener_;
  Fd spare_;  // given up for a moment when there is no descriptor left
  Watch watch_;
  std::list<std::unique_ptr<Connection>> connections_;
};

// The command line's end: asks the daemon at `path` and waits for its answer.
// Throws std::runtime_error: "connect PATH: ..." when no daemon answers, or the daemon's own error.
std::string admin_request(const std::string& path, const std::string& verb, const std::string& argument);
// True when a daemon answers at `path`.
bool admin_answers(const std::string& path);
// The pid of the daemon at `path` as this process's pid namespace knows it; 0: it is not visible there.
// Throws std::runtime_error.
int admin_pid(const std::string& path);

}  // namespace headrace
