// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/log.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <utility>

namespace headrace {
namespace {

// Lines that may wait for a slow reader of standard error.
constexpr std::size_t kQueuedLines = 8192;
constexpr auto kReplaceBadUtf8 = nlohmann::json::error_handler_t::replace;

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

struct Log::Sink {
  std::shared_ptr<spdlog::details::thread_pool> pool =
      std::make_shared<spdlog::details::thread_pool>(kQueuedLines, 1);
  std::shared_ptr<spdlog::async_logger> logger =
      std::make_shared<spdlog::async_logger>("headrace", std::make_shared<spdlog::sinks::stderr_sink_mt>(),
                                             pool, spdlog::async_overflow_policy::overrun_oldest);
  std::atomic<bool> json{false};
  bool patterned = false;
  std::atomic<bool> sessions{true};

  void write(spdlog::level::level_enum level, std::string_view line) {
    if (!logger->should_log(level)) return;
    if (json)
      logger->log(level, R"("message":{})", nlohmann::json(line).dump(-1, ' ', false, kReplaceBadUtf8));
    else
      logger->log(level, "{}", line);
  }
};

Log::Log(const LogSettings& settings) : sink_{std::make_unique<Sink>()} { apply(settings); }

Log::~Log() { sink_->logger->flush(); }

void Log::apply(const LogSettings& settings) {
  const bool json = settings.format == LogFormat::json;
  const bool is_new = std::exchange(sink_->patterned, true) == false || json != sink_->json;
  sink_->json = json;
  sink_->sessions = settings.sessions;
  sink_->logger->set_level(to_spdlog(settings.level));
  sink_->logger->flush_on(spdlog::level::info);
  // Waits for the line that is being written: on a full pipe that nobody reads, for ever. Hence only when
  // needed.
  if (!is_new) return;
  sink_->logger->set_pattern(sink_->json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})"
                                         : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
}

void Log::debug(std::string_view line) { sink_->write(spdlog::level::debug, line); }
void Log::info(std::string_view line) { sink_->write(spdlog::level::info, line); }
void Log::warning(std::string_view line) { sink_->write(spdlog::level::warn, line); }
void Log::error(std::string_view line) { sink_->write(spdlog::level::err, line); }

void Log::session(const SessionSummary& summary) {
  if (!sink_->sessions || !sink_->logger->should_log(spdlog::level::info)) return;
  if (sink_->json)
    sink_->logger->info(R"("session":{})", print_json(summary));
  else
    sink_->logger->info("{}", print_text(summary));
}

}  // namespace headrace
