// SPDX-License-Identifier: GPL-3.0-or-later
// The command line: words in, one verb called, its exit status out. 2 for usage, 1 for what is bad.
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "proxy/commands/commands.hpp"

namespace {

using namespace headrace;

constexpr const char* kDefaultFile = "/etc/headrace/headrace.toml";

struct Line {
  std::string file = kDefaultFile;
  std::string verb;
  std::string listen, to, client, app;
  std::vector<std::string> probe;
  ForwardRequest forward;
  bool json = false;
  bool static_rules = false;
  bool force = false;
  bool features = false;
};

Endpoint endpoint(const char* what, const std::string& text) {
  const Parsed<Endpoint> parsed = parse_endpoint(text);
  if (!parsed) throw CLI::ValidationError{what, parsed.complaint()};
  return *parsed;
}

// A client may be given without a port: any.
Endpoint client_endpoint(const std::string& text) {
  if (const Parsed<IpAddress> address = parse_address(text)) return {*address, 0};
  return endpoint("--client", text);
}

CLI::App* add_verb(CLI::App& app, Line& line, const char* name, const char* says, bool configured = true) {
  CLI::App* verb = app.add_subcommand(name, says);
  if (configured)
    verb->add_option("-c,--config", line.file, "the daemon's file")->capture_default_str()->type_name("FILE");
  return verb;
}

void add_on(CLI::App* verb, Line& line, std::function<int()>& action, std::function<int()> run,
            const std::vector<std::string>& words) {
  verb->add_option("verb", line.verb, "what to do")
      ->required()
      ->check(CLI::IsMember(words))
      ->type_name("VERB");
  verb->callback([&action, run = std::move(run)] { action = run; });
}

void add_daemon_verbs(CLI::App& app, Line& line, std::function<int()>& action) {
  add_verb(app, line, "run", "the daemon, in the foreground")->callback([&] {
    action = [&] { return run_daemon(line.file); };
  });
  add_on(add_verb(app, line, "bypass", "stop or resume taking new flows; live sessions go on"), line, action,
         [&] { return run_bypass(line.file, line.verb); }, {"on", "off", "status"});
  CLI::App* status = add_verb(app, line, "status", "the running daemon now");
  status->add_flag("--json", line.json, "as JSON");
  status->callback([&] { action = [&] { return run_status(line.file, line.json); }; });
  add_verb(app, line, "reload", "make the running daemon read its policies again")->callback([&] {
    action = [&] { return run_reload(line.file); };
  });
  add_verb(app, line, "drain", "take no new flows and end with the last live session")->callback([&] {
    action = [&] { return run_drain(line.file); };
  });
}

void add_forward(CLI::App& app, Line& line, std::function<int()>& action) {
  CLI::App* forward =
      add_verb(app, line, "forward", "one explicit forwarder: no root, no file, a summary on exit", false);
  forward->add_option("LISTEN", line.listen, "address:port, or a port on loopback")
      ->required()
      ->type_name("");
  forward->add_option("TO", line.to, "the server's address:port, or a port on loopback")
      ->required()
      ->type_name("");
  forward->add_option("--client-leg", line.forward.client_leg, "profile")->capture_default_str();
  forward->add_option("--server-leg", line.forward.server_leg, "profile")->capture_default_str();
  forward->add_option("--app", line.app, "ftp: data connections come through headrace too")
      ->check(CLI::IsMember({"ftp"}))
      ->type_name("ftp");
  forward->callback([&] {
    line.forward.ftp = line.app == "ftp";
    line.forward.listen = endpoint("LISTEN", line.listen);
    line.forward.to = endpoint("TO", line.to);
    action = [&] { return run_forward(line.forward); };
  });
}

void add_policy_verbs(CLI::App& app, Line& line, std::function<int()>& action) {
  CLI::App* check = add_verb(app, line, "check", "parse and validate everything, report every problem");
  check->add_flag("--json", line.json, "as JSON");
  check->callback([&] { action = [&] { return run_check(line.file, line.json); }; });

  CLI::App* explain =
      add_verb(app, line, "explain", "which policy wins for a flow and why, and every call on each leg");
  explain->add_option("--client", line.client, "the client's address[:port]")->required()->type_name("A[:P]");
  explain->add_option("--to", line.to, "the server's address:port")->required()->type_name("A:P");
  explain->add_flag("--json", line.json, "as JSON");
  explain->callback([&] {
    const ExplainRequest request{client_endpoint(line.client), endpoint("--to", line.to), line.json};
    action = [&line, request] { return run_explain(line.file, request); };
  });

  CLI::App* policies =
      add_verb(app, line, "policies", "the policies in effective order, with their listener class");
  policies->add_flag("--json", line.json, "as JSON");
  policies->callback([&] { action = [&] { return run_policies(line.file, line.json); }; });
}

void add_doctor(CLI::App& app, Line& line, std::function<int()>& action) {
  CLI::App* doctor = add_verb(app, line, "doctor", "is this kernel, host and rule set able to do it?");
  doctor->add_flag("--json", line.json, "as JSON");
  doctor->add_option("--probe", line.probe, "follow one flow's routes both ways")
      ->expected(2)
      ->type_name("CLIENT TO");
  doctor->callback([&] {
    DoctorRequest request{{}, {}, line.json};
    if (!line.probe.empty()) {
      request.client = client_endpoint(line.probe[0]);
      request.to = client_endpoint(line.probe[1]);
      if (request.client->address.family() != request.to->address.family())
        throw CLI::ValidationError{"--probe", "CLIENT and TO are of different families"};
    }
    action = [&line, request] { return run_doctor(line.file, request); };
  });
}

// A flag that a verb does not know is a misunderstanding, not a wish.
void refuse_idle_flags(const Line& line) {
  const bool up = line.verb == "up";
  if (line.static_rules && !up) throw CLI::ValidationError{"--static", "only with net up"};
  if (line.force && !up && line.verb != "down")
    throw CLI::ValidationError{"--force", "only with net up and net down"};
}

void add_host_verbs(CLI::App& app, Line& line, std::function<int()>& action) {
  CLI::App* net = add_verb(app, line, "net",
                           "routes, rules, sysctls and the packet filter: print, install, remove, verify");
  net->add_flag("--static", line.static_rules,
                "with up: install the diversion too, for people who manage rules themselves");
  net->add_flag("--force", line.force,
                "with down, and with up by another mark, table or mode: even while a daemon intercepts, "
                "whose sessions are then cut off");
  add_on(net, line, action,
         [&] {
           return run_net(line.file, {line.verb, line.static_rules, line.force});
         },
         {"show", "up", "down", "status"});
  app.final_callback([&line] { refuse_idle_flags(line); });
  CLI::App* version =
      add_verb(app, line, "version", "the version, and with --features what this build can do", false);
  version->add_flag("--features", line.features, "what this build can do");
  version->callback([&] {
    action = [&] {
      if (line.features) return print_features();
      std::printf("headrace %s\n", HEADRACE_VERSION);
      return 0;
    };
  });
}

// CLI11 only says that a command is missing.
std::string unknown_verb(const CLI::App& app, int count, char** words) {
  if (count < 2 || words[1][0] == '-') return {};
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (verb->get_name() == words[1]) return {};
  return words[1];
}

int run_action(const std::function<int()>& action) {
  try {
    return action();
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems())
      std::fprintf(stderr, "headrace: %s\n", print(problem).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "headrace: %s\n", error.what());
  }
  return 1;
}

// A descriptor of ours must not become 0, 1 or 2: what is written there would go to it.
void open_standard_descriptors() {
  for (int descriptor = open("/dev/null", O_RDWR); descriptor >= 0; descriptor = open("/dev/null", O_RDWR)) {
    if (descriptor <= STDERR_FILENO) continue;
    close(descriptor);
    return;
  }
}

// Freed in small pieces while large ones are asked for, glibc's fast bins are merged again and again: 0.3 of
// 1.3 s of processor in a reload of 100,000 policies. Threads keep their own small caches without them.
void use_no_fast_bins() { ::mallopt(M_MXFAST, 0); }

}  // namespace

int main(int count, char** words) {
  use_no_fast_bins();
  open_standard_descriptors();
  CLI::App app{"headrace: a transparent split-connection TCP proxy", "headrace"};
  app.set_version_flag("--version", std::string{"headrace "} + HEADRACE_VERSION);
  app.require_subcommand(1);
  Line line;
  std::function<int()> action;
  add_daemon_verbs(app, line, action);
  add_forward(app, line, action);
  add_policy_verbs(app, line, action);
  add_host_verbs(app, line, action);
  add_doctor(app, line, action);
  if (const std::string word = unknown_verb(app, count, words); !word.empty()) {
    std::fprintf(stderr, "headrace: unknown command \"%s\" (headrace --help lists them)\n", word.c_str());
    return 2;
  }
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);
    return status == 0 ? 0 : 2;
  }
  return run_action(action);
}
