// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/leg_storage.hpp"

#include <stdexcept>

#ifdef HEADRACE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>

#include <cerrno>
#include <fstream>
#include <system_error>

// The compiled program, as cmake built it from bpf/leg_storage.bpf.c.
asm(".section .rodata\n"
    ".balign 16\n"
    "headrace_bpf_object:\n"
    ".incbin \"" HEADRACE_BPF
    "\"\n"
    "headrace_bpf_object_end:\n"
    ".previous\n");
extern const char headrace_bpf_object[] asm("headrace_bpf_object");
extern const char headrace_bpf_object_end[] asm("headrace_bpf_object_end");

namespace headrace {
namespace {

// As in bpf/leg_storage.bpf.c.
struct Windows {
  std::uint32_t initial_window = 0;
  std::uint32_t initial_receive_window = 0;
};

[[noreturn]] void fail(const std::string& attempt, int code) {
  throw std::runtime_error{attempt + ": " + std::system_category().message(code)};
}

// Where cgroup v2 is mounted (alone, or beside v1), from /proc/self/mounts.
std::string cgroup_mount() {
  std::ifstream mounts{"/proc/self/mounts"};
  std::string device, place, type, rest;
  while (mounts >> device >> place >> type && std::getline(mounts, rest))
    if (type == "cgroup2") return place;
  throw std::runtime_error{"cgroup v2 is not mounted"};
}

// This process's own, from the line "0::/path" of /proc/self/cgroup.
Fd own_cgroup() {
  std::ifstream groups{"/proc/self/cgroup"};
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    const std::string path = cgroup_mount() + line.substr(3);
    Fd group{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!group) fail("open " + path, errno);
    return group;
  }
  throw std::runtime_error{"this process is in no cgroup v2"};
}

struct CloseObject {
  void operator()(bpf_object* object) const { bpf_object__close(object); }
};

}  // namespace

struct LegStorage::Program {
  std::unique_ptr<bpf_object, CloseObject> object;
  Fd group;
  Fd apply;      // links
  Fd note;       // nothing until a listener needs it
  int map = -1;  // the object's

  // A link, not an attachment: the kernel takes it out when this process is gone, also after kill -9.
  // Nothing, with errno, when the kernel refuses.
  Fd attach(const char* name, bpf_attach_type type) const {
    const bpf_program* program = bpf_object__find_program_by_name(object.get(), name);
    return Fd{bpf_link_create(bpf_program__fd(program), group.get(), type, nullptr)};
  }
};

LegStorage::LegStorage() : program_{std::make_unique<Program>()} {
  libbpf_set_print(nullptr);
  const auto size = static_cast<std::size_t>(headrace_bpf_object_end - headrace_bpf_object);
  program_->object.reset(bpf_object__open_mem(headrace_bpf_object, size, nullptr));
  if (!program_->object) fail("read the BPF program", errno);
  if (const int status = bpf_object__load(program_->object.get()); status != 0)
    fail("load the BPF program", -status);
  program_->map = bpf_object__find_map_fd_by_name(program_->object.get(), "leg_storage");
  program_->group = own_cgroup();
  program_->apply = program_->attach("leg_storage_apply", BPF_CGROUP_SOCK_OPS);
  if (!program_->apply) fail("attach the BPF program leg_storage_apply", errno);
}

bool LegStorage::expect_listener(const Profile& profile) const {
  if (profile.initial_receive_window && !program_->note)
    program_->note = program_->attach("leg_storage_note", BPF_CGROUP_INET_INGRESS);
  return !profile.initial_receive_window || program_->note;
}

bool LegStorage::put(const Fd& socket, const Profile& profile) const {
  if (!is_wanted(profile)) return true;
  const Windows windows{profile.initial_window.value_or(Segments{}).count,
                        profile.initial_receive_window.value_or(Segments{}).count};
  const int descriptor = socket.get();
  return bpf_map_update_elem(program_->map, &descriptor, &windows, BPF_ANY) == 0;
}

std::string LegStorage::why_not() {
  if (::geteuid() != 0) return {};
  try {
    const LegStorage probe;
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace headrace

#else

namespace headrace {

struct LegStorage::Program {};

LegStorage::LegStorage() { throw std::runtime_error{why_not()}; }
bool LegStorage::expect_listener(const Profile& profile) const { return !profile.initial_receive_window; }
bool LegStorage::put(const Fd&, const Profile& profile) const { return !is_wanted(profile); }
std::string LegStorage::why_not() { return "this program was built without BPF (clang, libbpf)"; }

}  // namespace headrace

#endif

namespace headrace {

LegStorage::~LegStorage() = default;

}  // namespace headrace
