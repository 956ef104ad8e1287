// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/lab/link_queue.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

namespace headrace::lab {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

void assign(DirectionSettings& settings, std::string_view key, const std::string& value) {
  const auto nanoseconds = [&] { return std::chrono::nanoseconds(std::stoll(value)); };
  if (key == "delay")
    settings.delay = nanoseconds();
  else if (key == "jitter")
    settings.jitter = nanoseconds();
  else if (key == "period")
    settings.jitter_period = nanoseconds();
  else if (key == "reorder")
    settings.reorder = value == "1";
  else if (key == "rate")
    settings.rate = std::stoull(value);
  else if (key == "queue")
    settings.queue = std::stoull(value);
  else if (key == "loss")
    settings.loss = std::stod(value);
  else if (key == "seed")
    settings.seed = std::stoull(value);
  else
    throw std::invalid_argument("link: no setting named " + std::string(key));
}

}  // namespace

std::string to_text(const DirectionSettings& settings) {
  char loss[32];
  std::snprintf(loss, sizeof loss, "%.17g", settings.loss);
  return "delay=" + std::to_string(settings.delay.count()) +
         ",jitter=" + std::to_string(settings.jitter.count()) +
         ",period=" + std::to_string(settings.jitter_period.count()) +
         ",reorder=" + (settings.reorder ? "1" : "0") + ",rate=" + std::to_string(settings.rate) +
         ",queue=" + std::to_string(settings.queue) + ",loss=" + loss +
         ",seed=" + std::to_string(settings.seed);
}

DirectionSettings parse_direction(std::string_view text) {
  DirectionSettings settings;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw std::invalid_argument("link: key=value, not " + std::string(item));
    assign(settings, item.substr(0, equals), std::string(item.substr(equals + 1)));
  }
  return settings;
}

LinkQueue::LinkQueue(const DirectionSettings& settings) : settings_(settings), random_(settings.seed) {}

LinkQueue::Fate LinkQueue::enqueue(Time now, Packet packet) {
  if (settings_.rate != 0 && settings_.queue != 0 && backlog(now) + packet.size() > settings_.queue) {
    return Fate::dropped;
  }
  const Time sent = transmit(now, packet.size());
  Time due = sent + propagation(sent);
  if (settings_.loss > 0 && chance() < settings_.loss) return Fate::lost;
  if (!settings_.reorder) due = last_due_ = std::max(due, last_due_);
  const auto later = [](Time at, const Waiting& other) { return at < other.due; };
  waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), due, later), {due, std::move(packet)});
  return Fate::queued;
}

std::optional<LinkQueue::Time> LinkQueue::next_due() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.front().due;
}

std::optional<LinkQueue::Packet> LinkQueue::pop_due(Time now) {
  if (waiting_.empty() || waiting_.front().due > now) return std::nullopt;
  Packet packet = std::move(waiting_.front().packet);
  waiting_.pop_front();
  return packet;
}

std::uint64_t LinkQueue::backlog(Time now) const {
  const Time ahead = std::max(Time::zero(), busy_until_ - now);
  return static_cast<std::uint64_t>(static_cast<double>(ahead.count()) * static_cast<double>(settings_.rate) /
                                    (8 * kNanosecondsPerSecond));
}

// When the last bit has left: packets take the rate one after the other.
LinkQueue::Time LinkQueue::transmit(Time now, std::size_t size) {
  busy_until_ = std::max(now, busy_until_);
  if (settings_.rate != 0) {
    busy_until_ += Time(std::llround(static_cast<double>(size) * 8 * kNanosecondsPerSecond /
                                     static_cast<double>(settings_.rate)));
  }
  return busy_until_;
}

LinkQueue::Time LinkQueue::propagation(Time sent) {
  if (settings_.jitter == Time::zero()) return settings_.delay;
  double swing = 0;
  if (settings_.jitter_period == Time::zero()) {
    swing = 2 * chance() - 1;
  } else {
    const double turns =
        static_cast<double>(sent.count()) / static_cast<double>(settings_.jitter_period.count());
    swing = std::sin(2 * std::numbers::pi * (turns - std::floor(turns)));
  }
  const Time varied(std::llround(swing * static_cast<double>(settings_.jitter.count())));
  return std::max(Time::zero(), settings_.delay + varied);
}

double LinkQueue::chance() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

}  // namespace headrace::lab
