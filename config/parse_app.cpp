// SPDX-License-Identifier: GPL-3.0-or-later
#include "config/parse_app.hpp"

namespace headrace {

AppDraft parse_app(TableReader& reader) {
  AppDraft draft;
  reader.choice("app", {{"ftp", true}}, draft.ftp);
  const TomlNode* node = reader.take("data_policy");
  if (node == nullptr) return draft;
  const auto* text = std::get_if<std::string>(&node->value);
  if (text == nullptr || !is_name(*text))
    reader.refuse(*node, "data_policy", "a policy's name");
  else if (reader.take("app") == nullptr)
    reader.error(*node, "data_policy", "nothing tells of data connections (app = \"ftp\" beside it)");
  else
    draft.data_policy = node;
  return draft;
}

}  // namespace headrace
