// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <string>
#include <utility>

// How tests wait (for a condition, bounded; on another thread, for what blocks) and what they compare.
namespace headrace {

// True as soon as `condition` holds, false when it does not within `limit`.
bool eventually(const std::function<bool()>& condition,
                std::chrono::nanoseconds limit = std::chrono::seconds{10});

template <class Work>
auto in_background(Work work) {
  return std::async(std::launch::async, std::move(work));
}

template <class T>
bool is_done(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
}

// Descriptors that this process has open.
inline std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

inline constexpr const char* kWhole = "whole and in order";
// kWhole, or how `received` differs from `sent`, in few words.
std::string compare(const std::string& received, const std::string& sent);

}  // namespace headrace
