# SPDX-License-Identifier: GPL-3.0-or-later
if(HEADRACE_SANITIZE)
  add_compile_options(-fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEADRACE_SANITIZE})
  if(HEADRACE_SANITIZE MATCHES "undefined")
    # It looks at memory through a pipe, and ends a program that has no descriptor left for one.
    add_compile_options(-fno-sanitize=vptr)
  endif()
endif()
