// SPDX-License-Identifier: GPL-3.0-or-later
// What each proxy is told: the least that its own documentation asks for to relay TCP, one worker, no log of
// connections, room for the sessions of the idle row. Congestion control is the routes' (SpeedLab).
#include <functional>
#include <sstream>

#include "bench/speed/contender.hpp"

namespace headrace::lab {
namespace {

// One relayed service: listen here in the middle, connect there.
using Relayed =
    std::function<std::string(const std::string& name, const std::string& at, const std::string& to)>;

std::string for_each_service(const Relayed& text) {
  std::string all;
  for (int server = 0; server < kServers; ++server) {
    all += text("echo" + std::to_string(server), endpoint(kMiddleWan4, kFirstEchoRelay + server),
                endpoint(server_address(server), kEchoPort));
  }
  return all + text("bulk", endpoint(kMiddleWan4, kBulkRelay), endpoint(kServer4, kBulkPort));
}

}  // namespace

std::string haproxy_configuration(const Contender& contender) {
  std::string head = "global\n  nbthread 1\n  maxconn 7000\ndefaults\n  mode tcp\n" +
                     std::string("  timeout connect 10s\n  timeout client 1h\n  timeout server 1h\n");
  std::istringstream options(contender.setting);
  for (std::string option; std::getline(options, option);) head += "  option " + option + "\n";
  return head + for_each_service([](const std::string& name, const std::string& at, const std::string& to) {
           return "listen " + name + "\n  bind " + at + "\n  server s " + to + "\n";
         });
}

std::string nginx_configuration(const Contender& contender, const std::string& directory) {
  const std::string buffer = contender.setting.empty() ? "" : "proxy_buffer_size " + contender.setting + "; ";
  return "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nworker_processes 1;\ndaemon off;\npid " +
         directory + "/nginx.pid;\nerror_log stderr warn;\nworker_rlimit_nofile 20000;\n" +
         "events { worker_connections 18000; }\nstream {\n  proxy_timeout 1h;\n" +
         for_each_service([&](const std::string&, const std::string& at, const std::string& to) {
           return "  server { listen " + at + " backlog=4096; " + buffer + "proxy_pass " + to + "; }\n";
         }) +
         "}\n";
}

std::string headrace_configuration(const Contender& contender, const std::string& directory) {
  const bool is_inline = contender.carrier == Carrier::headrace_inline;
  std::string text = "policy_files = \"policies.d/*.toml\"\nworkers = 1\n";
  if (!contender.setting.empty()) text += "busy_poll = \"" + contender.setting + "\"\n";
  text += is_inline ? "[intercept]\ninterfaces = [\"wan0\"]\nstate_file = \"" + directory + "/net.json\"\n"
                    : "[intercept]\nmode = \"off\"\n";
  text +=
      "[limits]\nsessions_per_client = \"100%\"\n[log]\nsessions = false\n[admin]\nmetrics = \"off\"\nsocket "
      "= \"" +
      directory + "/admin.sock\"\nstate_directory = \"" + directory + "\"\n";
  if (is_inline) return text;
  return text + for_each_service([](const std::string&, const std::string& at, const std::string& to) {
           return "[[forward]]\nlisten = \"" + at + "\"\nto = \"" + to +
                  "\"\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
         });
}

std::string headrace_policies() {
  return "[[policy]]\nname = \"lan\"\nto = [\"198.18.2.0/24\"]\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
}

}  // namespace headrace::lab
