# SPDX-License-Identifier: Apache-2.0
#
# assay_add_plugin(<target> SOURCES <file>... [OUTPUT_DIRECTORY <dir>] [LIBRARIES <library>...])
#
# Builds <target>.assay.so (.assay.dll on Windows) from sources that include <assay/plugin.hpp> or
# <assay/abi.h>: hidden visibility, exactly the two names of the C interface exported, no undefined
# symbol left over, never unmapped once loaded.

function(assay_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_DIRECTORY" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_plugin(${target}): needs SOURCES, got '${ARGN}'")
  endif()
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE assay::sdk ${arg_LIBRARIES})
  if(CMAKE_C_COMPILER_LOADED)
    target_compile_features(${target} PRIVATE c_std_11)
  endif()
  if(CMAKE_CXX_COMPILER_LOADED)
    target_compile_features(${target} PRIVATE cxx_std_20)
  endif()
  string(REGEX REPLACE "^assay_plugin_" "" output "${target}")
  set_target_properties(${target} PROPERTIES
    PREFIX "" OUTPUT_NAME ${output} SUFFIX ".assay${CMAKE_SHARED_MODULE_SUFFIX}"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(arg_OUTPUT_DIRECTORY)
    set_target_properties(${target} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT_DIRECTORY})
  endif()
  if(UNIX AND NOT APPLE)
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
    target_link_options(${target} PRIVATE -Wl,-z,defs -Wl,-z,nodelete
      -Wl,--version-script=${script})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
  endif()
endfunction()

# assay_add_rules(<target> FOLDER <folder> OUTPUT <file>)
#
# Joins the *.toml of a folder into the one NAME.assay.toml that assay reads, pack.toml first.
function(assay_add_rules target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER;OUTPUT" "")
  if(NOT arg_FOLDER OR NOT arg_OUTPUT OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "assay_add_rules(${target}): needs FOLDER and OUTPUT, got '${ARGN}'")
  endif()
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER})
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.toml)
  list(REMOVE_ITEM files ${folder}/pack.toml)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/join_files.cmake)
  add_custom_command(OUTPUT ${arg_OUTPUT}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${folder}/pack.toml;${files}" -DOUTPUT=${arg_OUTPUT}
      -P ${script}
    DEPENDS ${folder}/pack.toml ${files} ${script}
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${arg_OUTPUT})
endfunction()
