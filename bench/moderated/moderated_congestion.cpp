// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/moderated/moderated_congestion.hpp"

#include <stdexcept>

#ifdef HEADRACE_MODERATED_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "bench/lab/handle.hpp"

// The compiled program, as cmake built it from moderated.bpf.c.
asm(".section .rodata\n"
    "headrace_moderated_object:\n"
    ".incbin \"" HEADRACE_MODERATED_BPF
    "\"\n"
    "headrace_moderated_object_end:\n"
    ".previous\n");
extern const char headrace_moderated_object[] asm("headrace_moderated_object");
extern const char headrace_moderated_object_end[] asm("headrace_moderated_object_end");

namespace headrace::lab {
namespace {

constexpr std::string_view kNamePlace = "name-goes-here.";  // in moderated.bpf.c; a name has 15 characters
// Of linux/bpf.h since 6.4, which Debian 12's is not.
constexpr std::uint32_t kMapByLink = 1U << 13;                 // BPF_F_LINK
constexpr auto kStructOps = static_cast<bpf_attach_type>(44);  // BPF_STRUCT_OPS

[[noreturn]] void fail(const std::string& attempt, int code) {
  throw std::runtime_error(attempt + ": " + std::system_category().message(code) + " (needs Linux 6.10)");
}

std::string fresh_name() {
  static std::atomic<int> counter{0};
  const std::string name = "hr" + std::to_string(getpid()) + "_" + std::to_string(++counter);
  if (name.size() > kNamePlace.size()) throw std::runtime_error("no name is left for a congestion control");
  return name;
}

// libbpf 1.1 has no call that sets a member of a struct_ops before it is loaded.
std::string object_named(std::string name) {
  std::string object(headrace_moderated_object, headrace_moderated_object_end);
  const std::size_t place = object.find(kNamePlace);
  if (place == object.npos) throw std::runtime_error("the BPF program has no place for a name");
  name.resize(kNamePlace.size());
  return object.replace(place, name.size(), name);
}

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

// Hands the programs to the map. libbpf's link is for maps that register at once and stay until they are told
// to go; ours waits for a link of its own.
void fill(bpf_map* map) {
  bpf_link* link = bpf_map__attach_struct_ops(map);
  if (link == nullptr) fail("fill the congestion control", errno);
  bpf_link__disconnect(link);
  bpf_link__destroy(link);
}

}  // namespace

struct ModeratedCongestion::Registered {
  std::unique_ptr<bpf_object, CloseObject> object;
  Handle link;
};

ModeratedCongestion::ModeratedCongestion()
    : name_(fresh_name()), registered_(std::make_unique<Registered>()) {
  libbpf_set_print(nullptr);
  const std::string bytes = object_named(name_);
  registered_->object.reset(bpf_object__open_mem(bytes.data(), bytes.size(), nullptr));
  bpf_object* object = registered_->object.get();
  if (object == nullptr) fail("read the moderated congestion control", errno);
  bpf_map* map = bpf_object__find_map_by_name(object, "moderated");
  bpf_map__set_map_flags(map, kMapByLink);
  if (const int status = bpf_object__load(object); status != 0)
    fail("load the moderated congestion control", -status);
  fill(map);
  registered_->link = Handle(bpf_link_create(bpf_map__fd(map), 0, kStructOps, nullptr));
  if (!registered_->link) fail("register the moderated congestion control", errno);
}

std::optional<std::string> ModeratedCongestion::why_not() {
  try {
    const ModeratedCongestion probe;
    return std::nullopt;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace headrace::lab

#else

namespace headrace::lab {

struct ModeratedCongestion::Registered {};

ModeratedCongestion::ModeratedCongestion() { throw std::runtime_error(*why_not()); }
std::optional<std::string> ModeratedCongestion::why_not() {
  return "this program was built without BPF (clang, libbpf)";
}

}  // namespace headrace::lab

#endif

namespace headrace::lab {

ModeratedCongestion::~ModeratedCongestion() = default;

}  // namespace headrace::lab
