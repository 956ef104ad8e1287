// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>

#include "policy/address.hpp"

namespace headrace {

// Who talks to whom. Two types, so that the one can't be passed where the other is wanted.
struct ClientEndpoint {
  Endpoint value;
  auto operator<=>(const ClientEndpoint&) const = default;
};

struct OriginalDestination {
  Endpoint value;
  auto operator<=>(const OriginalDestination&) const = default;
};

struct Flow {
  ClientEndpoint client;
  OriginalDestination destination;
  auto operator<=>(const Flow&) const = default;
};

}  // namespace headrace
