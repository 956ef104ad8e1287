// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/lab/inline_lab.hpp"
#include "bench/lab/socket.hpp"
#include "tests/netns/daemon.hpp"

// Many connections at once, and what a process costs: what tests of exhaustion share.
namespace headrace {

// As many descriptors as this process may have.
void raise_own_descriptor_limit();
void limit_descriptors(pid_t pid, rlim_t most);
std::size_t descriptors_of(pid_t pid);
std::size_t pipes_of(pid_t pid);  // descriptors that are an end of one
std::size_t resident_kib(pid_t pid);
std::chrono::milliseconds processor_time_of(pid_t pid);
std::size_t lines_of(const std::string& text);

// A listener of the lab's server that takes thousands at once.
lab::Socket listen_for_crowd(const lab::InlineLab& lab, const std::string& place);

// Clients whose SYNs all leave before any is waited for.
std::vector<lab::Socket> connect_at_once(const lab::InlineLab& lab, const std::string& place,
                                         std::size_t count);
// Everybody that comes, until nobody has come for a second and a half.
std::vector<lab::Socket> accept_all(const lab::Socket& listener, std::size_t most);
// How many of them are still whole: connected, with nothing to say.
std::size_t count_whole(const std::vector<lab::Socket>& sockets);
// Each client says its number, each server hears one.
bool all_speak(const std::vector<lab::Socket>& clients, const std::vector<lab::Socket>& servers);

// The processor time that a daemon takes while nobody wants anything of it, for a second.
std::chrono::milliseconds idle_time_of(const Daemon& daemon, const lab::Socket& silent);

}  // namespace headrace
