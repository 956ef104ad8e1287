#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One library, one file: who may include a library or make a socket call."""

import fnmatch
import re

import tree

LIBRARIES = {
    r"uv\.h$|uv/": ["proxy/loop.*"],
    r"toml": ["config/toml_source.*"],
    r"spdlog/|fmt/": ["proxy/log.*"],
    r"catch2/": ["tests/test.hpp"],
    r"CLI/": ["proxy/main.cpp", "proxy/commands/*", "bench/*"],
    r"nlohmann/": ["proxy/commands/*", "proxy/json*", "proxy/admin*", "proxy/log.cpp", "proxy/session_summary.cpp",
                   "proxy/status.cpp", "deploy/host_state.cpp", "deploy/net_apply.cpp", "bench/*", "tests/*"],
    r"openssl/": ["proxy/tls.*"],
    r"bpf/libbpf|bpf/bpf\.h": ["proxy/leg_storage.cpp", "bench/moderated/*"],
    r"benchmark/": ["bench/micro/*"],
    r"libmnl/": ["deploy/diversion_elements.cpp"],
    r"libnetfilter_queue|linux/netfilter": ["proxy/syn_queue.cpp", "deploy/diversion_elements.cpp"],
    r"cap-ng": ["proxy/commands/leg_storage.cpp"],
}
SOCKET_CALL = re.compile(
    r"(?<![\w>])::(socket|bind|connect|listen|accept4?|recv|recvmsg|send|sendmsg|setsockopt|getsockopt|splice)\(|"
    r"(?<![\w.:>])(setsockopt|getsockopt|accept4|recvmsg|sendmsg|splice)\(")
# proxy/socket is about the legs; what is AF_UNIX is proxy/admin's (the control socket) and proxy/diversion_claim's,
# what is AF_NETLINK is proxy/syn_queue's.
SOCKET_FILES = ["proxy/socket.*", "proxy/pump.cpp", "proxy/tcp_info.cpp", "proxy/admin.cpp", "proxy/diversion_claim.cpp",
                "proxy/syn_queue.cpp", "bench/*", "tests/*"]


def allowed(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


problems = []
for name in tree.sources():
    for number, included, quoted in tree.includes(name):
        for library, places in LIBRARIES.items():
            if not quoted and re.match(library, included) and not allowed(name, places):
                problems.append(f"{name}:{number}: <{included}> belongs to {', '.join(places)} alone")
    if allowed(name, SOCKET_FILES):
        continue
    for number, line in enumerate(tree.code_lines(name), 1):
        call = SOCKET_CALL.search(line)
        if call:
            problems.append(f"{name}:{number}: {call[0]}...) belongs to {', '.join(SOCKET_FILES[:4])}")
tree.report(problems)
