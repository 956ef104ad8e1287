// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "bench/demo/demo_lab.hpp"
#include "bench/lab/process.hpp"

namespace headrace::lab {

// headrace in the lab's middle, as an operator would run it: files written to the lab's directory, `net up`,
// `run`. Its destructor stops it and takes `net up` back. Borrows the lab.
class Daemon {
 public:
  // Throws std::runtime_error with what headrace said when it doesn't get ready.
  Daemon(const DemoLab& demo, const Programs& programs);
  Daemon(Daemon&&) = delete;
  ~Daemon();

  // Throws std::runtime_error unless its log tells of so many sessions to that port of the server: proof that
  // the bytes went through it and not past it.
  void expect_sessions(int port, int count) const;

  void keep();  // the destructor then does nothing

 private:
  const DemoLab& demo_;
  std::filesystem::path program_;
  std::filesystem::path file_;
  Process process_;
  bool kept_ = false;
};

}  // namespace headrace::lab
