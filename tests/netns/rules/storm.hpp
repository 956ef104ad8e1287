// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/netns/rules/traffic.hpp"

namespace headrace {

// Connections one after the other, in turn to each listener: each is made, carries four bytes and is closed.
// Ends with the first that fails. Borrows the lab and the listeners.
class Storm {
 public:
  Storm(const lab::InlineLab& lab, const std::vector<lab::Socket>& listeners, int connections);
  ~Storm();
  Storm(const Storm&) = delete;
  Storm& operator=(const Storm&) = delete;

  bool wait_for(int connections) const;  // so many were made
  std::string trouble();                 // waits for the end; empty: all went well

 private:
  void blow();
  std::string one(const lab::Socket& listener) const;

  const lab::InlineLab& lab_;
  const std::vector<lab::Socket>& listeners_;
  const int connections_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int made_ = 0;
  std::string trouble_;
  std::thread thread_;
};

}  // namespace headrace
