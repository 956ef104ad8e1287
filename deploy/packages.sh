# SPDX-License-Identifier: GPL-3.0-or-later
# Debian packages, in one place for deploy/demo and tests/run: source it, then install_missing ARRAY...
# shellcheck shell=bash

# What building needs.
HEADRACE_BUILD_PACKAGES=(g++ cmake ninja-build pkg-config clang libbpf-dev libcap-ng-dev libmnl-dev
  libnetfilter-queue-dev libuv1-dev libspdlog-dev libtomlplusplus-dev libcli11-dev
  nlohmann-json3-dev catch2)
# What the demo runs besides.
HEADRACE_DEMO_PACKAGES=(nftables iproute2 ethtool vsftpd curl)
# What the tests and the checks of the sources run besides both.
HEADRACE_TEST_PACKAGES=(clang clang-tidy clang-format libclang-rt-14-dev lftp python3-pyftpdlib iptables tcpdump socat
  iputils-ping openssl postgresql mariadb-server-core mariadb-client-core)  # MariaDB's -core packages bring no service

# is_installed PACKAGE
is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# missing_packages PACKAGE...: prints those that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
}

# Runs a command while nothing that packages bring is started (vsftpd) and no database is made (PostgreSQL's package
# would make one that starts with the machine). What stands in the way goes again, somebody else's policy stays.
without_services() {
  local policy=/usr/sbin/policy-rc.d clusters=/etc/postgresql-common/createcluster.d status=0
  if [[ -e $policy ]]; then
    policy=
  else
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
  fi
  mkdir -p "$clusters" && printf 'create_main_cluster = false\n' >"$clusters/headrace.conf"
  "$@" || status=$?
  rm -f "$clusters/headrace.conf"
  rmdir --ignore-fail-on-non-empty "$clusters" "${clusters%/*}"
  [[ -z $policy ]] || rm -f "$policy"
  return "$status"
}

apt_install() {
  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

# install_missing PACKAGE...: says what it installs, then does, without_services.
# Fails without changing anything when HEADRACE_NO_INSTALL is set, or when we aren't root, and something is missing.
install_missing() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  printf 'Missing Debian packages: %s\n' "${missing[*]}" >&2
  if [[ -n ${HEADRACE_NO_INSTALL:-} ]]; then
    printf 'Not installing them (--no-install).\n' >&2
    return 1
  fi
  if ((EUID != 0)); then
    printf 'Installing them needs root.\n' >&2
    return 1
  fi
  printf 'Installing them.\n' >&2
  without_services apt_install "${missing[@]}" >&2
}
