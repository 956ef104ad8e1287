// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/netns/databases/tns_pair.hpp"

#include <future>

namespace headrace::tns {

Pair make_pair(const TwoWays& ways, const std::string& place, const lab::Socket& listener) {
  auto server = std::async(std::launch::async, [&] { return accept(listener); });
  auto client = log_in(ways.client(), place);
  return {std::move(client), server.get()};
}

Pair make_pair(const TwoWays& ways, const std::string& place, bool urgent_inline) {
  lab::SocketOptions options;
  options.urgent_inline = urgent_inline;
  return make_pair(ways, place, lab::Socket::listen(ways.server(), place, options));
}

bool exchange(const Pair& pair, std::size_t request_size, std::size_t answer_size) {
  const std::string request = data_of(request_size, 5), answer = data_of(answer_size, 6);
  auto client = std::async(std::launch::async, [&] {
    pair.client.channel.send(Type::data, request);
    return pair.client.channel.expect(Type::data) == answer;
  });
  const bool heard = pair.server.channel.expect(Type::data) == request;
  pair.server.channel.send(Type::data, answer);
  return client.get() && heard;
}

}  // namespace headrace::tns
