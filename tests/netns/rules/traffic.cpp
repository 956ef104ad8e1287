// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/rules/traffic.hpp"

#include <future>

namespace headrace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::vector<lab::Socket> listen_in_both(const lab::InlineLab& lab, int port) {
  std::vector<lab::Socket> listeners;
  for (const char* address : kServers)
    listeners.push_back(lab::Socket::listen(lab.server, lab::endpoint(address, port)));
  return listeners;
}

Conversation converse(const lab::InlineLab& lab, const lab::Socket& listener,
                      const lab::SocketOptions& options) {
  const auto began = Clock::now();
  auto client = lab::Socket::connect(lab.client, listener.local(), options);
  const auto connected_in = Clock::now() - began;
  return {std::move(client), listener.accept(), connected_in};
}

bool speaks(const Conversation& conversation) {
  return conversation.client.send_all("question") == lab::End::done &&
         conversation.server.receive_exactly(8).bytes == "question" &&
         conversation.server.send_all("answer") == lab::End::done &&
         conversation.client.receive_exactly(6).bytes == "answer";
}

bool carries(const lab::Socket& from, const lab::Socket& to, std::size_t count) {
  const std::string bytes = lab::pattern(count);
  auto sent = std::async(std::launch::async, [&] { return from.send_all(bytes); });
  const bool arrived = to.receive_exactly(count).bytes == bytes;
  return sent.get() == lab::End::done && arrived;
}

bool is_through(const lab::InlineLab& lab, const Conversation& conversation) {
  return !lab.middle.command({"ss", "-Htan", "dst", conversation.client.local()}).empty();
}

std::string way_of_new_flows(const lab::InlineLab& lab, const std::vector<lab::Socket>& listeners) {
  std::string way;
  for (const lab::Socket& listener : listeners) {
    const auto conversation = converse(lab, listener);
    if (conversation.connected_in > kAtOnce) return listener.local() + " connected late";
    if (!speaks(conversation)) return listener.local() + " is mute";
    const std::string now = is_through(lab, conversation) ? "through" : "direct";
    if (!way.empty() && now != way) return "through in one family, direct in the other";
    way = now;
  }
  return way;
}

}  // namespace headrace
