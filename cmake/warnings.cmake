# SPDX-License-Identifier: GPL-3.0-or-later
# The warning set of every target of ours; warnings are errors with gcc 12 and clang 14 alike.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Wconversion -Wsign-conversion
  -Wnon-virtual-dtor -Woverloaded-virtual -Wold-style-cast -Wnull-dereference -Wformat=2 -Wundef -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12's flow-based warnings misfire on inlined std::string and std::variant at -O2 (GCC PR105329, PR107852).
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-restrict -Wno-null-dereference -Wno-maybe-uninitialized)
endif()
