# SPDX-License-Identifier: GPL-3.0-or-later
# BPF programs are optional: without clang or libbpf the build goes on, and whoever embeds one says what is missing.
if(CLANG AND LIBBPF_FOUND)
  set(HEADRACE_BPF_BUILDS ON)
endif()

# headrace_embed_bpf(TARGET SOURCE UNIT DEFINITION): compiles SOURCE; UNIT, a source of TARGET in the caller's folder,
# finds the object under the path that DEFINITION names.
function(headrace_embed_bpf target source unit definition)
  cmake_path(GET source STEM name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  # The multiarch folder holds asm/types.h, which clang does not look for when the target is bpf.
  add_custom_command(OUTPUT ${object} DEPENDS ${source}
    COMMAND ${CLANG} -O2 -g -Wall -Werror -target bpf -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE} -c ${source} -o ${object})
  set_source_files_properties(${unit} PROPERTIES OBJECT_DEPENDS ${object}
    COMPILE_DEFINITIONS ${definition}="${object}")
  target_link_libraries(${target} PRIVATE PkgConfig::LIBBPF)
endfunction()
