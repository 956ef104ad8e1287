// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace headrace::lab {

// The moderated sender of story 1 in the kernel itself: a congestion control of our own (moderated.bpf.c), to
// be had by its name as long as the object lives. It is the whole machine's, in every namespace, so each
// object has another name; and it hangs on a link, so that the kernel takes it out when this process is gone,
// however it went. Sockets that use it keep theirs until they close. Any thread; needs root and Linux 6.10.
class ModeratedCongestion {
 public:
  ModeratedCongestion();  // throws std::runtime_error: "attempt: reason"
  ModeratedCongestion(ModeratedCongestion&&) = delete;
  ~ModeratedCongestion();

  // For TCP_CONGESTION. On a listener before its first connection: a socket that had bbr before stays paced.
  const std::string& name() const { return name_; }

  // Why there can be none here; nothing when there can.
  static std::optional<std::string> why_not();

 private:
  struct Registered;

  std::string name_;
  std::unique_ptr<Registered> registered_;
};

}  // namespace headrace::lab
