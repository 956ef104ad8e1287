// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/socket_address.hpp"

#include <stdexcept>

#include "tests/test.hpp"

namespace headrace::lab {

TEST_CASE("endpoint: both families are read and written alike") {
  for (const char* text : {"198.18.2.2:5000", "[2001:db8:2::2]:5000", "0.0.0.0:0", "[::]:65535"}) {
    CHECK(SocketAddress(text).text() == text);
  }
  CHECK(SocketAddress("[2001:db8:2::2]:5000").host() == "2001:db8:2::2");
  CHECK(SocketAddress("198.18.2.2:5000").port() == 5000);
}

TEST_CASE("endpoint: what is none is refused") {
  for (const char* text :
       {"", "198.18.2.2", "198.18.2.2:", "198.18.2.2:70000", "2001:db8::1:80", "host:80", "[]:1"}) {
    CHECK_THROWS_AS(SocketAddress(text), std::invalid_argument);
  }
}

}  // namespace headrace::lab
