// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/diversion_elements.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

// The messages are put together by hand: libnftnl would allocate a set, its elements and their copies for
// each call, to write the same ten attributes.
namespace headrace {
namespace {

constexpr const char* kTable = "headrace";
constexpr std::size_t kLongestName = NFT_NAME_MAXLEN - 1;
constexpr std::size_t kLongestKey = 64;  // NFT_DATA_VALUE_MAXLEN
// Of an element: three names, a key, a dozen headers.
constexpr std::size_t kLargestMessage = 1024;
constexpr std::size_t kRoom = (3 * DiversionElements::kMostAtOnce + 2) * kLargestMessage;
constexpr int kMostParts = 100'000;  // of an answer; a set of 16,384 elements takes some 60

// Netlink messages one behind the other.
class Messages {
 public:
  explicit Messages(char* room) : begin_{room}, end_{room} {}

  nlmsghdr* add(unsigned type, unsigned flags, std::uint8_t family = NFPROTO_INET,
                std::uint16_t resource = 0) {
    nlmsghdr* message = mnl_nlmsg_put_header(next());
    message->nlmsg_type = static_cast<std::uint16_t>(type);
    message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    auto* header = static_cast<nfgenmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(nfgenmsg)));
    header->nfgen_family = family;
    header->version = NFNETLINK_V0;
    header->res_id = htons(resource);
    last_ = message;
    return message;
  }
  nlmsghdr* add_nft(unsigned type, unsigned flags) { return add((NFNL_SUBSYS_NFTABLES << 8) | type, flags); }
  void begin_batch() { add(NFNL_MSG_BATCH_BEGIN, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES); }
  // The last message of a batch that was heard answers for all.
  void end_batch() {
    last_->nlmsg_flags |= NLM_F_ACK;
    add(NFNL_MSG_BATCH_END, 0, AF_UNSPEC, NFNL_SUBSYS_NFTABLES);
  }

  const char* data() const { return begin_; }
  std::size_t size() { return static_cast<std::size_t>(next() - begin_); }

 private:
  char* next() {
    if (last_ != nullptr) end_ += NLMSG_ALIGN(last_->nlmsg_len);
    last_ = nullptr;
    return end_;
  }

  char* begin_;
  char* end_;
  nlmsghdr* last_ = nullptr;
};

void put_name_of(nlmsghdr* message, const std::string& set) {
  mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_TABLE, kTable);
  mnl_attr_put_strz(message, NFTA_SET_ELEM_LIST_SET, set.c_str());
}

void put_key(nlmsghdr* message, std::span<const std::byte> key) {
  nlattr* nest = mnl_attr_nest_start(message, NFTA_SET_ELEM_KEY);
  mnl_attr_put(message, NFTA_DATA_VALUE, key.size(), key.data());
  mnl_attr_nest_end(message, nest);
}

void put_verdict(nlmsghdr* message, const std::string& chain) {
  nlattr* data = mnl_attr_nest_start(message, NFTA_SET_ELEM_DATA);
  nlattr* verdict = mnl_attr_nest_start(message, NFTA_DATA_VERDICT);
  mnl_attr_put_u32(message, NFTA_VERDICT_CODE, htonl(static_cast<std::uint32_t>(NFT_GOTO)));
  mnl_attr_put_strz(message, NFTA_VERDICT_CHAIN, chain.c_str());
  mnl_attr_nest_end(message, verdict);
  mnl_attr_nest_end(message, data);
}

std::uint64_t milliseconds(Duration timeout) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), 1));
}

void put_addition(Messages& messages, const TimedElement& element) {
  nlmsghdr* message = messages.add_nft(NFT_MSG_NEWSETELEM, NLM_F_CREATE);
  put_name_of(message, element.set);
  nlattr* list = mnl_attr_nest_start(message, NFTA_SET_ELEM_LIST_ELEMENTS);
  nlattr* item = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
  put_key(message, element.key);
  mnl_attr_put_u64(message, NFTA_SET_ELEM_TIMEOUT, htobe64(milliseconds(element.timeout)));
  if (!element.go_to.empty()) put_verdict(message, element.go_to);
  mnl_attr_nest_end(message, item);
  mnl_attr_nest_end(message, list);
}

void put_removal(Messages& messages, const std::string& set, std::span<const std::byte> key) {
  nlmsghdr* message = messages.add_nft(NFT_MSG_DELSETELEM, 0);
  put_name_of(message, set);
  nlattr* list = mnl_attr_nest_start(message, NFTA_SET_ELEM_LIST_ELEMENTS);
  nlattr* item = mnl_attr_nest_start(message, NFTA_LIST_ELEM);
  put_key(message, key);
  mnl_attr_nest_end(message, item);
  mnl_attr_nest_end(message, list);
}

bool is_too_long(const std::string& set, std::span<const std::byte> key) {
  return set.size() > kLongestName || key.size() > kLongestKey;
}

// What an error message says: 0 for an acknowledgement.
int error_in(const nlmsghdr* message) {
  if (mnl_nlmsg_get_payload_len(message) < sizeof(nlmsgerr)) return EPROTO;
  return -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message))->error;
}

// Sends, and gives `take` each answer but errors. 0 when it was acknowledged or told to its end, else the
// first errno. The kernel does all of it within the call that sends, so that answers are waited for no time;
// asking for the next part of a long one makes it.
template <class Take>
int ask(mnl_socket* socket, Messages& messages, char* room, Take&& take) {
  if (mnl_socket_sendto(socket, messages.data(), messages.size()) < 0) return errno;
  int result = -1;
  for (int part = 0; part < kMostParts; ++part) {
    const ssize_t heard = mnl_socket_recvfrom(socket, room, kRoom);
    if (heard < 0 && errno == EINTR) continue;
    if (heard < 0) return result < 0 ? EIO : result;
    auto left = static_cast<int>(heard);
    for (auto* one = static_cast<const nlmsghdr*>(static_cast<void*>(room)); mnl_nlmsg_ok(one, left);
         one = mnl_nlmsg_next(one, &left)) {
      if (one->nlmsg_type == NLMSG_ERROR) {
        if (const int error = error_in(one); result <= 0) result = error;
      } else if (one->nlmsg_type == NLMSG_DONE) {
        result = std::max(result, 0);
      } else if (one->nlmsg_type >= NLMSG_MIN_TYPE) {
        take(*one);
      }
    }
  }
  return EIO;
}

int ask(mnl_socket* socket, Messages& messages, char* room) {
  return ask(socket, messages, room, [](const nlmsghdr&) {});
}

// The attribute of one type, among those of a message or in a nest of them.
struct Wanted {
  int type;
  const nlattr* found = nullptr;
};

int note(const nlattr* attribute, void* data) {
  auto& wanted = *static_cast<Wanted*>(data);
  if (mnl_attr_get_type(attribute) == wanted.type) wanted.found = attribute;
  return MNL_CB_OK;
}

const nlattr* find(const nlmsghdr& message, int type) {
  Wanted wanted{type};
  mnl_attr_parse(&message, sizeof(nfgenmsg), note, &wanted);
  return wanted.found;
}

const nlattr* find(const nlattr* nest, int type) {
  Wanted wanted{type};
  if (nest != nullptr) mnl_attr_parse_nested(nest, note, &wanted);
  return wanted.found;
}

int count_one(const nlattr*, void* data) {
  ++*static_cast<std::size_t*>(data);
  return MNL_CB_OK;
}

mnl_socket* open_socket() {
  mnl_socket* socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket == nullptr) throw std::system_error{errno, std::system_category(), "netlink socket"};
  int on = 1;
  mnl_socket_setsockopt(socket, NETLINK_CAP_ACK, &on, sizeof on);  // errors need not repeat what was said
  return socket;
}

}  // namespace

void DiversionElements::Closer::operator()(mnl_socket* socket) const noexcept { mnl_socket_close(socket); }

DiversionElements::DiversionElements()
    : socket_{open_socket()}, room_{std::make_unique_for_overwrite<char[]>(kRoom)} {}

DiversionElements::~DiversionElements() = default;

// Kernels before 6.12 do not renew an element that is there, and to delete one that has just gone is an
// error: added, deleted and added again, in one transaction, it is good whatever was there before.
//
// Median of 2,000 calls (6.18): 7 us for one element (5 us if it were only added), 82 us for 32. A call that
// fails takes 4 to 30 ms, since to undo a transaction the kernel waits for all readers: whoever calls on the
// data path does not try again at once. `nft add element` takes 9 ms.
int DiversionElements::add(std::span<const TimedElement> elements) noexcept {
  if (elements.empty()) return 0;
  if (elements.size() > kMostAtOnce) return E2BIG;
  for (const TimedElement& element : elements)
    if (is_too_long(element.set, element.key) || element.go_to.size() > kLongestName) return ENAMETOOLONG;
  Messages messages{room_.get()};
  messages.begin_batch();
  for (const TimedElement& element : elements) {
    put_addition(messages, element);
    put_removal(messages, element.set, element.key);
    put_addition(messages, element);
  }
  messages.end_batch();
  return ask(socket_.get(), messages, room_.get());
}

int DiversionElements::remove(const std::string& set, std::span<const std::byte> key) noexcept {
  if (is_too_long(set, key)) return ENAMETOOLONG;
  Messages messages{room_.get()};
  messages.begin_batch();
  put_removal(messages, set, key);
  messages.end_batch();
  return ask(socket_.get(), messages, room_.get());
}

std::optional<std::size_t> DiversionElements::count(const std::string& set) noexcept {
  if (is_too_long(set, {})) return std::nullopt;
  Messages messages{room_.get()};
  put_name_of(messages.add_nft(NFT_MSG_GETSETELEM, NLM_F_DUMP), set);
  std::size_t count = 0;
  const int error = ask(socket_.get(), messages, room_.get(), [&count](const nlmsghdr& part) {
    const nlattr* list = find(part, NFTA_SET_ELEM_LIST_ELEMENTS);
    if (list != nullptr) mnl_attr_parse_nested(list, count_one, &count);
  });
  if (error != 0) return std::nullopt;
  return count;
}

std::optional<std::uint64_t> DiversionElements::packets(const std::string& counter) noexcept {
  if (is_too_long(counter, {})) return std::nullopt;
  Messages messages{room_.get()};
  nlmsghdr* message = messages.add_nft(NFT_MSG_GETOBJ, NLM_F_ACK);
  mnl_attr_put_strz(message, NFTA_OBJ_TABLE, kTable);
  mnl_attr_put_strz(message, NFTA_OBJ_NAME, counter.c_str());
  mnl_attr_put_u32(message, NFTA_OBJ_TYPE, htonl(NFT_OBJECT_COUNTER));
  std::optional<std::uint64_t> counted;
  const int error = ask(socket_.get(), messages, room_.get(), [&counted](const nlmsghdr& object) {
    const nlattr* packets = find(find(object, NFTA_OBJ_DATA), NFTA_COUNTER_PACKETS);
    if (packets != nullptr && mnl_attr_get_payload_len(packets) == sizeof(std::uint64_t))
      counted = be64toh(mnl_attr_get_u64(packets));
  });
  return error == 0 ? counted : std::nullopt;
}

std::size_t DiversionElements::rules(const std::string& chain) noexcept {
  if (is_too_long(chain, {})) return 0;
  Messages messages{room_.get()};
  nlmsghdr* message = messages.add_nft(NFT_MSG_GETRULE, NLM_F_DUMP);
  mnl_attr_put_strz(message, NFTA_RULE_TABLE, kTable);
  mnl_attr_put_strz(message, NFTA_RULE_CHAIN, chain.c_str());
  std::size_t count = 0;
  ask(socket_.get(), messages, room_.get(), [&count](const nlmsghdr&) { ++count; });
  return count;
}

namespace {

constexpr std::size_t kRegister = 4;

void append_padded(std::vector<std::byte>& key, std::span<const std::uint8_t> octets) {
  for (const std::uint8_t octet : octets) key.push_back(std::byte{octet});
  key.resize((key.size() + kRegister - 1) / kRegister * kRegister);
}

}  // namespace

void append_field(std::vector<std::byte>& key, const IpAddress& address) {
  append_padded(key, std::span{address.octets()}.first(address.width() / 8));
}

void append_field(std::vector<std::byte>& key, std::uint16_t port) {
  const std::array<std::uint8_t, 2> octets{static_cast<std::uint8_t>(port >> 8),
                                           static_cast<std::uint8_t>(port & 0xff)};
  append_padded(key, octets);
}

}  // namespace headrace
