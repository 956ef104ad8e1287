// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/process.hpp"
#include "bench/lab/temp_dir.hpp"

namespace headrace::lab {

// One policy for everything that the lab's server listens on.
std::string policy_for_the_lab();

// headrace inline with one worker, in the middle of a lab, with the policies that it is given as TOML. Ready
// when constructed. Its nft is a script that notes how long each call took and how much it was given, and
// then is nft.
class ScaleDaemon {
 public:
  ScaleDaemon(const InlineLab& lab, const std::filesystem::path& headrace, const std::string& policies);

  pid_t pid() const { return process_->pid(); }
  void write_policies(const std::string& policies) const;
  void reload() const;  // returns when it is done; throws with what was said when it was refused

  struct Nft {
    double seconds = 0;
    double bytes = 0;
  };
  Nft nft_so_far() const;  // sums of the calls that were given rules

 private:
  const InlineLab& lab_;
  std::filesystem::path headrace_;
  TempDir dir_;
  std::string file_;
  std::optional<Process> process_;
};

}  // namespace headrace::lab
