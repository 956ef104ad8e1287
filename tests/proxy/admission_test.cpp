// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/admission.hpp"

#include "tests/test.hpp"

namespace headrace {
namespace {

using Verdict = Admission::Verdict;

const IpAddress kOne = IpAddress::v4({198, 18, 1, 1});
const IpAddress kTwo = IpAddress::v4({198, 18, 1, 2});

void admit(Admission& admission, int times) {
  for (int i = 0; i < times; ++i) REQUIRE(admission.admit(kOne) == Verdict::admitted);
}

void leave(Admission& admission, int times) {
  for (int i = 0; i < times; ++i) admission.leave(kOne);
}

}  // namespace

TEST_CASE("admission: refusing, the soft limit is the hard one") {
  Admission admission{{2, 10, 10, Overload::refuse}, nullptr};
  admit(admission, 2);
  CHECK(admission.admit(kOne) == Verdict::too_many);
  CHECK_FALSE(admission.is_overloaded());  // nobody to be asked to stay away
}

TEST_CASE("admission: bypassing, those who are already here are served up to the hard limit") {
  Admission admission{{2, 4, 10, Overload::bypass}, nullptr};
  admit(admission, 4);
  CHECK(admission.is_overloaded());
  CHECK(admission.admit(kTwo) == Verdict::too_many);
}

TEST_CASE("admission: one client's share leaves the others theirs") {
  Admission admission{{10, 10, 2, Overload::bypass}, nullptr};
  admit(admission, 2);
  CHECK(admission.admit(kOne) == Verdict::too_many_of_this_client);
  CHECK(admission.admit(kTwo) == Verdict::admitted);
  admission.leave(kOne);
  CHECK(admission.admit(kOne) == Verdict::admitted);
}

TEST_CASE("admission: who was refused takes no place") {
  Admission admission{{10, 10, 1, Overload::bypass}, nullptr};
  admit(admission, 1);
  for (int i = 0; i < 5; ++i) REQUIRE(admission.admit(kOne) != Verdict::admitted);
  CHECK(admission.live() == 1);
}

TEST_CASE("admission: overload begins at the limit and ends below nine tenths of it") {
  Admission admission{{20, 100, 100, Overload::bypass}, nullptr};
  admit(admission, 19);
  CHECK_FALSE(admission.is_overloaded());
  admit(admission, 1);
  CHECK(admission.is_overloaded());
  leave(admission, 2);
  CHECK(admission.is_overloaded());  // 18
  leave(admission, 1);
  CHECK_FALSE(admission.is_overloaded());
}

TEST_CASE("admission: the alarm is raised once a change") {
  int changes = 0;
  Admission admission{{20, 100, 100, Overload::bypass}, [&] { ++changes; }};
  admit(admission, 30);
  CHECK(changes == 1);
  leave(admission, 30);
  CHECK(changes == 2);
}

TEST_CASE("admission: the alarm may ask back") {
  bool seen = false;
  Admission* self = nullptr;
  Admission admission{{1, 2, 2, Overload::bypass}, [&] { seen = self->is_overloaded(); }};
  self = &admission;
  admit(admission, 1);
  CHECK(seen);
}

TEST_CASE("admission: other limits apply at once") {
  Admission admission{{20, 100, 100, Overload::bypass}, nullptr};
  admit(admission, 10);
  admission.apply({10, 100, 100, Overload::bypass});
  CHECK(admission.is_overloaded());
  admission.apply({20, 100, 100, Overload::bypass});
  CHECK_FALSE(admission.is_overloaded());
}

TEST_CASE("admission: automatic limits follow from the descriptors") {
  const auto limits = admission_limits({}, 20'000);
  CHECK(limits.hard_sessions == (20'000 - 256 - 2'000) / 2);
  CHECK(limits.sessions == limits.hard_sessions - limits.hard_sessions / 20);
  CHECK(limits.per_client == limits.sessions / 10);
}

TEST_CASE("admission: a limit above what descriptors allow is cut to it") {
  LimitSettings settings;
  settings.sessions = 1'000'000;
  CHECK(admission_limits(settings, 20'000).sessions == admission_limits(settings, 20'000).hard_sessions);
}

TEST_CASE("admission: a client that may have all sessions is bounded as all are") {
  LimitSettings settings;
  settings.sessions_per_client = {true, 1, 0};
  const Admission::Limits limits = admission_limits(settings, 20'000);
  CHECK(limits.per_client == limits.hard_sessions);
}

TEST_CASE("admission: a fixed number a client is that number") {
  LimitSettings settings;
  settings.sessions_per_client = {false, 0, 7};
  CHECK(admission_limits(settings, 20'000).per_client == 7);
}

TEST_CASE("admission: few descriptors allow few sessions, never none and never countless") {
  for (const std::size_t descriptors : {0UL, 10UL, 200UL, 256UL, 260UL, 284UL, 290UL, 300UL}) {
    INFO(descriptors << " descriptors");
    const auto limits = admission_limits({}, descriptors);
    CHECK(limits.hard_sessions >= 1);
    CHECK(limits.hard_sessions <= 10);
    CHECK(limits.sessions >= 1);
    CHECK(limits.per_client >= 1);
  }
}

}  // namespace headrace
