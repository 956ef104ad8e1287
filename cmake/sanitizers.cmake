# SPDX-License-Identifier: GPL-3.0-or-later
if(HEADRACE_SANITIZE)
  add_compile_options(-fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADRACE_SANITIZE})
endif()
