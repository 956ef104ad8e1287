// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <set>

#include "tests/proxy_doctor/rig.hpp"
#include "tests/test.hpp"

using namespace headrace::doctor;

TEST_CASE("doctor: a healthy host is all ok") {
  const Host host;
  for (const Finding& one : examine({host.facts, &host.configuration})) {
    INFO(print(one));
    CHECK(one.status == Status::ok);
    CHECK_FALSE(one.text.empty());
  }
}

TEST_CASE("doctor: without a configuration the host alone is examined") {
  const Host host;
  const auto findings = examine({host.facts, nullptr});
  const auto on_host = std::count_if(checks().begin(), checks().end(),
                                     [](const Check& check) { return check.needs == Needs::host; });
  CHECK(findings.size() == static_cast<std::size_t>(on_host));
  CHECK(findings.size() < checks().size());
  CHECK(all_well(findings));
}

TEST_CASE("doctor: an empty host is examined and never trusted") {
  const auto findings = examine({Facts{}, nullptr});
  CHECK_FALSE(all_well(findings));
}

TEST_CASE("doctor: names of checks are unique") {
  std::set<std::string_view> names;
  for (const Check& check : checks()) CHECK(names.insert(check.name).second);
}

TEST_CASE("doctor: a line says what is wrong and what mends it") {
  CHECK(print(Finding{"rp_filter", Status::fail, "eth1=1", "sysctl"}) ==
        "FAIL rp_filter: eth1=1. Mend: sysctl");
  CHECK(print(Finding{"rp_filter", Status::ok, "fine", ""}) == "ok   rp_filter: fine");
  CHECK(print(Finding{"rp_filter", Status::warn, "strict", ""}) == "warn rp_filter: strict");
  CHECK(all_well({{"a", Status::ok, "", ""}, {"b", Status::warn, "", ""}}));
  CHECK_FALSE(all_well({{"a", Status::ok, "", ""}, {"b", Status::fail, "", ""}}));
}
