# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DIN=profiles.toml -DOUT=profiles_text.cpp -P embed.cmake: the file as a string of the program.
file(READ "${IN}" text)
file(WRITE "${OUT}" "// Made from profiles.toml.
#include \"config/profiles.hpp\"

namespace headrace {
extern const std::string_view kShippedProfiles;
const std::string_view kShippedProfiles = R\"~profiles~(${text})~profiles~\";
}  // namespace headrace
")
