// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "config/reader.hpp"

// `app` and `data_policy`, which policies and forwarders have alike. Private to config/.
namespace headrace {

struct AppDraft {
  bool ftp = false;
  const TomlNode* data_policy = nullptr;  // a text; none: whoever has the app itself
};

AppDraft parse_app(TableReader& reader);

}  // namespace headrace
