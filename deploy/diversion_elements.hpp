// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/address.hpp"
#include "policy/units.hpp"

struct mnl_socket;

namespace headrace {

// An element that goes by itself, of a set or of a verdict map in table inet headrace.
struct TimedElement {
  std::string set;             // or map
  std::vector<std::byte> key;  // element_key()
  Duration timeout;            // the kernel counts milliseconds: rounded up, at least one
  std::string go_to;           // the chain of a map's element; empty for a set
};

// Timed elements in the running daemon's own table, put in and taken out by netlink: on the data path, where
// the element must be there before the next packet comes, a program would cost milliseconds. One call costs
// microseconds, and milliseconds when it fails (the numbers are in the .cpp); it waits for whoever else
// changes the packet filter at that moment. Declares nothing: sets, maps and chains are the rule set's
// (deploy/nft_text.cpp), and go with it.
//
// Owns one netlink socket, in the network namespace of the thread that makes it. Not for two threads at a
// time: each has its own. Needs CAP_NET_ADMIN, not uid 0.
class DiversionElements {
 public:
  // Beyond it add() says E2BIG.
  static constexpr std::size_t kMostAtOnce = 32;

  DiversionElements();  // throws std::system_error
  ~DiversionElements();
  DiversionElements(const DiversionElements&) = delete;
  DiversionElements& operator=(const DiversionElements&) = delete;

  // All or none of them. One that is there already has its timeout begun anew; a map's element that leads
  // elsewhere stays as it is (EEXIST). 0 or errno; ENOENT: no such set, map or chain, or no table at all, as
  // while nothing is diverted; ENFILE: the set is full.
  int add(std::span<const TimedElement> elements) noexcept;
  // ENOENT also when it has gone already.
  int remove(const std::string& set, std::span<const std::byte> key) noexcept;

  // How many elements a set or map has now, and what a named counter of the table has counted; nothing when
  // there is none. The kernel is asked for all of a set's elements: for status and tests.
  std::optional<std::size_t> count(const std::string& set) noexcept;
  std::optional<std::uint64_t> packets(const std::string& counter) noexcept;
  // How many rules a chain of the table has; 0 when there is none. `nft list chain` would read all elements
  // of all sets first: 1 to 2 s for 100,000.
  std::size_t rules(const std::string& chain) noexcept;

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const noexcept;
  };

  std::unique_ptr<mnl_socket, Closer> socket_;
  std::unique_ptr<char[]> room_;  // for what is said and what is heard
};

// A key of several fields (`type ipv4_addr . inet_service`) as nft lays it out: each in network order, filled
// up with zeros to a multiple of four bytes. Not for a set of ports alone, whose keys have two.
void append_field(std::vector<std::byte>& key, const IpAddress& address);
void append_field(std::vector<std::byte>& key, std::uint16_t port);
template <class... Fields>
std::vector<std::byte> element_key(const Fields&... fields) {
  std::vector<std::byte> key;
  (append_field(key, fields), ...);
  return key;
}

}  // namespace headrace
