// SPDX-License-Identifier: GPL-3.0-or-later
// What each proxy is told: the least that its own documentation asks for to relay TCP, one worker, no log of
// connections, room for the sessions of the idle row. Congestion control is the
// lab's (LabSpec).
#include <functional>
#include <sstream>
#include <string_view>

#include "bench/speed/contender.hpp"

namespace headrace::lab {
namespace {

std::string for_each(const std::vector<Service>& services,
                     const std::function<std::string(const Service&)>& text) {
  std::string all;
  for (const Service& service : services) all += text(service);
  return all;
}

}  // namespace

std::string haproxy_configuration(const Contender& contender, const LabSpec& lab) {
  constexpr std::string_view kGlobal = "global ";
  std::string global = "global\n  nbthread 1\n  maxconn 7000\n";
  std::string defaults =
      "defaults\n  mode tcp\n  timeout connect 10s\n  timeout client 1h\n  timeout server 1h\n";
  std::istringstream lines(contender.setting);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kGlobal))
      global += "  " + line.substr(kGlobal.size()) + "\n";
    else
      defaults += "  option " + line + "\n";
  }
  return global + defaults + for_each(lab.services, [](const Service& service) {
           return "listen " + service.name + "\n  bind " + service.at + "\n  server s " + service.to + "\n";
         });
}

std::string nginx_configuration(const Contender& contender, const LabSpec& lab,
                                const std::string& directory) {
  const std::string buffer = contender.setting.empty() ? "" : "proxy_buffer_size " + contender.setting + "; ";
  return "load_module /usr/lib/nginx/modules/ngx_stream_module.so;\nworker_processes 1;\ndaemon off;\npid " +
         directory + "/nginx.pid;\nerror_log stderr warn;\nworker_rlimit_nofile 20000;\n" +
         "events { worker_connections 18000; }\nstream {\n  proxy_timeout 1h;\n" +
         for_each(lab.services,
                  [&](const Service& service) {
                    return "  server { listen " + service.at + " backlog=4096; " + buffer + "proxy_pass " +
                           service.to + "; }\n";
                  }) +
         "}\n";
}

std::string headrace_configuration(const Contender& contender, const LabSpec& lab,
                                   const std::string& directory) {
  const bool is_inline = contender.carrier == Carrier::headrace_inline;
  std::string text = "policy_files = \"policies.d/*.toml\"\nworkers = 1\n" + contender.setting + "\n";
  text += is_inline ? "[intercept]\ninterfaces = [\"wan0\"]\nstate_file = \"" + directory + "/net.json\"\n"
                    : "[intercept]\nmode = \"off\"\n";
  text +=
      "[limits]\nsessions_per_client = \"100%\"\n[log]\nsessions = false\n[admin]\nmetrics = \"off\"\nsocket "
      "= \"" +
      directory + "/admin.sock\"\nstate_directory = \"" + directory + "\"\n";
  if (is_inline) return text;
  return text + for_each(lab.services, [](const Service& service) {
           return "[[forward]]\nlisten = \"" + service.at + "\"\nto = \"" + service.to +
                  "\"\nclient_leg = \"lan\"\nserver_leg = \"lan\"\n";
         });
}

}  // namespace headrace::lab
