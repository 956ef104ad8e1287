// SPDX-License-Identifier: GPL-3.0-or-later
// headrace-workload: the workloads as a program, to run inside namespaces or between real hosts. Servers
// print "ready" and serve until a signal ends them; clients print one JSON object, times in milliseconds.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench/workload/bulk.hpp"
#include "bench/workload/exchange.hpp"
#include "bench/workload/serve.hpp"
#include "bench/workload/small_messages.hpp"

namespace headrace::lab {
namespace {

using nlohmann::json;

struct Arguments {
  std::string endpoint;
  std::string congestion;
  bool moderated = false;
  bool upload = false;
  double pause = -1;  // milliseconds
  ExchangeSettings exchange;
  SmallMessageSettings messages;
  BulkSettings bulk;
};

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

json milliseconds(const std::vector<std::chrono::nanoseconds>& times) {
  json result = json::array();
  for (const auto time : times) result.push_back(milliseconds(time));
  return result;
}

std::chrono::nanoseconds from_milliseconds(double pause) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(pause * 1e6));
}

void print(const json& report) { std::puts(report.dump().c_str()); }

[[noreturn]] void serve(const Arguments& arguments, const std::function<void(const Socket&)>& one) {
  SocketOptions options;
  options.congestion = arguments.congestion;
  const Socket listener = Socket::listen(arguments.endpoint, options);
  std::puts("ready");
  std::fflush(stdout);
  serve_each(listener, one);
}

void exchanges(Arguments& arguments) {
  arguments.exchange.congestion = arguments.congestion;
  if (arguments.pause >= 0) arguments.exchange.pause = from_milliseconds(arguments.pause);
  const ExchangeReport report = run_exchanges(arguments.endpoint, arguments.exchange);
  print({{"connect_ms", milliseconds(report.connect)},
         {"median_ms", milliseconds(median(report.times))},
         {"times_ms", milliseconds(report.times)}});
}

void small_messages(Arguments& arguments) {
  if (arguments.pause >= 0) arguments.messages.pause = from_milliseconds(arguments.pause);
  const SmallMessageReport report = run_small_messages(arguments.endpoint, arguments.messages);
  json rounds = json::array();
  for (const auto& waits : report.waits) rounds.push_back(milliseconds(waits));
  print({{"rounds", report.waits.size()},
         {"stalled_rounds", report.stalled_rounds},
         {"worst_ms", milliseconds(report.worst)},
         {"waits_ms", rounds}});
}

void bulk(Arguments& arguments) {
  arguments.bulk.congestion = arguments.congestion;
  if (arguments.upload) arguments.bulk.direction = BulkDirection::upload;
  const BulkReport report = run_bulk(arguments.endpoint, arguments.bulk);
  print({{"bytes", report.bytes},
         {"time_ms", milliseconds(report.time)},
         {"bits_per_second", report.rate()},
         {"intact", report.intact}});
}

CLI::App* add_command(CLI::App& app, Arguments& arguments, const char* name, const char* says) {
  CLI::App* command = app.add_subcommand(name, says);
  command->add_option("endpoint", arguments.endpoint, "198.18.2.2:5000 or [2001:db8:2::2]:5000")->required();
  command->add_option("--congestion", arguments.congestion, "congestion control of this end");
  return command;
}

void add_servers(CLI::App& app, Arguments& arguments) {
  CLI::App* command = add_command(app, arguments, "exchange-server", "answers requests");
  command->add_flag("--moderated", arguments.moderated, "at most six segments after each acknowledgement");
  command->callback([&] {
    const Sending sending = arguments.moderated ? Sending::moderated : Sending::plain;
    serve(arguments, [sending](const Socket& connection) { serve_exchanges(connection, sending); });
  });
  add_command(app, arguments, "messages-server", "echoes small messages without NODELAY")->callback([&] {
    serve(arguments, serve_small_messages);
  });
  add_command(app, arguments, "bulk-server", "takes or gives a stream")->callback([&] {
    serve(arguments, serve_bulk);
  });
}

void add_clients(CLI::App& app, Arguments& arguments) {
  CLI::App* command = add_command(app, arguments, "exchange", "request and response, again and again");
  command->add_option("--request", arguments.exchange.request, "bytes");
  command->add_option("--response", arguments.exchange.response, "bytes");
  command->add_option("--count", arguments.exchange.count, "exchanges");
  command->add_option("--pause", arguments.pause, "milliseconds between exchanges");
  command->callback([&] { exchanges(arguments); });

  command = add_command(app, arguments, "messages", "small messages back to back without NODELAY");
  command->add_option("--size", arguments.messages.size, "bytes");
  command->add_option("--messages", arguments.messages.messages, "a round");
  command->add_option("--rounds", arguments.messages.rounds, "rounds");
  command->add_option("--in-two-parts", arguments.messages.in_two_parts,
                      "write the last message of each so many rounds with two calls");
  command->add_option("--pause", arguments.pause, "milliseconds between rounds");
  command->callback([&] { small_messages(arguments); });

  command = add_command(app, arguments, "bulk", "a stream one way, with a checksum");
  command->add_option("--size", arguments.bulk.size, "bytes");
  command->add_flag("--upload", arguments.upload, "to the server; otherwise from it");
  command->callback([&] { bulk(arguments); });
}

}  // namespace
}  // namespace headrace::lab

int main(int argc, char** argv) {
  using namespace headrace::lab;
  CLI::App app("The traffic of the field stories");
  app.require_subcommand(1);
  Arguments arguments;
  add_servers(app, arguments);
  add_clients(app, arguments);
  try {
    CLI11_PARSE(app, argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace-workload: %s\n", error.what());
    return 1;
  }
}
