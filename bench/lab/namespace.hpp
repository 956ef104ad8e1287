// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/lab/handle.hpp"

namespace headrace::lab {

// One network namespace with a name that `ip netns` knows, loopback up, no duplicate address detection.
// Removed with the object; programs and sockets in it are other objects and keep the (then nameless)
// namespace alive. Names are hr-PID-N-HINT, so what a killed test left behind is found and removed by the
// next one. Needs root. Any thread; entering concerns the calling thread alone.
class Namespace {
 public:
  explicit Namespace(std::string_view hint);
  Namespace(Namespace&& other) noexcept = default;
  Namespace& operator=(Namespace&&) = delete;
  ~Namespace();

  // With exactly this name (for a lab that people enter by hand). Throws when it exists.
  static Namespace named(std::string name);

  const std::string& name() const { return name_; }
  int descriptor() const { return handle_.get(); }

  // Calls `action` with the calling thread inside, and comes back whatever happens. Returns what it returns.
  template <typename Action>
  auto run(Action&& action) const {
    const Entered inside(handle_.get());
    return action();
  }

  // Runs a program inside to its end and returns its stdout. Throws with its stderr when it fails.
  std::string command(const std::vector<std::string>& argv, std::string_view input = {}) const;

  // One line, one `ip` command: ns.ip("addr add 198.18.1.2/24 dev eth0\nlink set eth0 up").
  void ip(std::string_view lines) const;

  // "net.ipv4.ip_forward", "1".
  void sysctl(std::string_view key, std::string_view value) const;
  std::string sysctl(std::string_view key) const;

  // The destructor then leaves the namespace to whoever enters it by name.
  void keep() { kept_ = true; }

 private:
  // The calling thread is in another namespace as long as this lives.
  class Entered {
   public:
    explicit Entered(int descriptor);
    Entered(Entered&&) = delete;
    ~Entered();

   private:
    Handle home_;
  };
  struct ExactName {
    std::string name;
  };

  explicit Namespace(ExactName exact);

  std::string name_;
  Handle handle_;
  bool kept_ = false;
};

// Removes a namespace by name. False when there was none.
bool remove_namespace(const std::string& name) noexcept;

}  // namespace headrace::lab
