// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "bench/lab/socket.hpp"

namespace headrace {

// A client's connection to PostgreSQL by the protocol itself (version 3.0): for what psql does not show, when
// a message arrives and how a connection ends. Logged in as postgres once constructed.
class PostgresWire {
 public:
  struct Message {
    char type = 0;
    std::string body;
  };

  PostgresWire(const lab::Namespace& from, const std::string& place);

  void send_query(const std::string& sql) const;
  void send_copy(const std::string& rows) const;  // some of a COPY FROM STDIN
  // Nothing at the end of the connection, or when none came in time.
  std::optional<Message> next(std::chrono::nanoseconds timeout = std::chrono::seconds{10}) const;
  // The next message of this type, whatever comes before it; throws when there is none.
  Message await(char type) const;
  // The first row of an answer, its columns joined by '|'.
  std::string ask(const std::string& sql) const;

  // What a CancelRequest names: the server's process and its secret.
  const std::string& key() const { return key_; }
  const lab::Socket& socket() const { return socket_; }

 private:
  lab::Socket socket_;
  std::string key_;
};

// A CancelRequest on a connection of its own, as every client sends it. The server answers by closing it.
lab::End cancel(const lab::Namespace& from, const std::string& place, const std::string& key);

}  // namespace headrace
