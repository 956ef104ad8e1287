// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/syn_queue.hpp"

#include <fcntl.h>
#include <netinet/in.h>  // before linux/netfilter.h, which has the same types
#include <sys/socket.h>

#include <cerrno>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>

#include <linux/netfilter.h>
#include <linux/netlink.h>

#include <libnetfilter_queue/libnetfilter_queue.h>

namespace headrace {
namespace {

// IP and TCP headers with all options that a SYN can have.
constexpr unsigned kBytesOfPacket = 128;
// More than may be held (limits.held_syns): the rest is what was not read yet.
constexpr std::uint32_t kMostPackets = 40'000;
constexpr int kReceiveBuffer = 8 << 20;
constexpr int kShare = 64;  // messages before legs get their turn

[[noreturn]] void fail(const std::string& attempt) {
  throw std::runtime_error{attempt + ": " + std::system_category().message(errno)};
}

// The kernel says EPERM of a queue that another process has, as it does without CAP_NET_ADMIN.
[[noreturn]] void fail_to_open(const std::string& name) {
  if (errno != EPERM) fail(name);
  throw std::runtime_error{name +
                           ": in use by another process (intercept.queue), or this one lacks CAP_NET_ADMIN"};
}

}  // namespace

struct SynQueue::Handle {
  nfq_handle* library = nullptr;
  nfq_q_handle* queue = nullptr;
  const std::function<void(const QueuedSyn&)>* told = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (queue) nfq_destroy_queue(queue);
    if (library) nfq_close(library);
  }

  static int on_packet(nfq_q_handle*, nfgenmsg*, nfq_data* data, void* self);
};

int SynQueue::Handle::on_packet(nfq_q_handle*, nfgenmsg*, nfq_data* data, void* self) {
  const nfqnl_msg_packet_hdr* header = nfq_get_msg_packet_hdr(data);
  if (!header) return 0;
  unsigned char* bytes = nullptr;
  const int count = nfq_get_payload(data, &bytes);
  QueuedSyn syn{ntohl(header->packet_id), nfq_get_nfmark(data), std::nullopt};
  if (count > 0) syn.packet = read_syn_packet(std::span{bytes, static_cast<std::size_t>(count)});
  (*static_cast<Handle*>(self)->told)(syn);
  return 0;
}

SynQueue::SynQueue(std::uint16_t number, const MarkAndMask& marks)
    : marks_{marks}, handle_{std::make_unique<Handle>()} {
  const std::string name = "packet queue " + std::to_string(number);
  handle_->library = nfq_open();
  if (!handle_->library) fail("open netfilter's packet queues");
  const int socket = nfq_fd(handle_->library);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  handle_->queue = nfq_create_queue(handle_->library, number, Handle::on_packet, handle_.get());
  if (!handle_->queue) fail_to_open(name);
  if (nfq_set_mode(handle_->queue, NFQNL_COPY_PACKET, kBytesOfPacket) < 0) fail(name + ": copy packets");
  if (nfq_set_queue_flags(handle_->queue, NFQA_CFG_F_FAIL_OPEN, NFQA_CFG_F_FAIL_OPEN) < 0)
    fail(name + ": fail open");
  if (nfq_set_queue_maxlen(handle_->queue, kMostPackets) < 0) fail(name + ": set its length");
  // A burst that finds the socket full fails open; that it did is no error here.
  const int size = kReceiveBuffer, on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
  ::setsockopt(socket, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof on);
  descriptor_ = Fd{::fcntl(socket, F_DUPFD_CLOEXEC, 0)};  // the library closes its own
  if (!descriptor_) fail(name + ": watch it");
}

SynQueue::~SynQueue() = default;

void SynQueue::close() { handle_.reset(); }

bool SynQueue::read(const std::function<void(const QueuedSyn&)>& told) {
  handle_->told = &told;
  for (int share = kShare; share > 0; --share) {
    const auto count = ::recv(descriptor_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
    nfq_handle_packet(handle_->library, buffer_.data(), static_cast<int>(count));
  }
  return true;
}

// Not simply accepted: the rest of the table that queued it would be skipped, which with iptables is other
// people's.
void SynQueue::settle(const QueuedSyn& syn, SynVerdict verdict) {
  if (!handle_) return;
  const std::uint32_t ours = verdict == SynVerdict::take ? marks_.taken_mark() : marks_.direct_mark();
  const std::uint32_t mark = (syn.mark & ~marks_.mask) | ours;
  if (verdict == SynVerdict::drop)
    nfq_set_verdict(handle_->queue, syn.id, NF_DROP, 0, nullptr);
  else
    nfq_set_verdict2(handle_->queue, syn.id, NF_REPEAT, mark, 0, nullptr);
}

}  // namespace headrace
