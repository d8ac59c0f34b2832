# SPDX-License-Identifier: Apache-2.0
# What every target of assay shares. Included by the top level, and by host/engine when it is built
# alone for one more LibTorch.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # With these, ccache can serve what is compiled with a precompiled header, and what another clone
  # has compiled already. Names of files in the objects (__FILE__) start from the build tree then.
  set(ASSAY_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ASSAY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=mold)
endif()

# The build tree has the layout of an installation (docs/architecture.md).
set(ASSAY_OUTPUT_DIR ${CMAKE_BINARY_DIR})
set(ASSAY_BIN_DIR ${ASSAY_OUTPUT_DIR}/bin)
set(ASSAY_LIBEXEC_DIR ${ASSAY_OUTPUT_DIR}/libexec/assay)
set(ASSAY_PLUGIN_DIR ${ASSAY_OUTPUT_DIR}/lib/assay/plugins)

option(ASSAY_WARNINGS_AS_ERRORS "treat compiler warnings as errors" OFF)
option(ASSAY_SANITIZE "build with the address and undefined-behaviour sanitizers" OFF)

function(assay_compile_options target)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -Wpedantic -Wshadow>
    $<$<CXX_COMPILER_ID:MSVC>:/W4>
    # GCC 12 finds these in std::string's and std::vector's own code when it optimises.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds
    -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
  if(ASSAY_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Werror> $<$<CXX_COMPILER_ID:MSVC>:/WX>)
  endif()
  if(ASSAY_SANITIZE)
    # What is left out stands at every access and doubles the code; a null pointer ends the
    # process all the same.
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined
      -fno-sanitize=null,alignment,object-size,vptr -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
endfunction()

# assay_bring_along(<program> <library>...)
#
# With ASSAY_STATIC_DEPENDENCIES: where there is a shared one alone (Debian has no static muParser and
# simdjson), it is installed into libexec/assay and found there, so that the tree still moves.
function(assay_bring_along program)
  if(NOT ASSAY_STATIC_DEPENDENCIES OR WIN32)
    return()
  endif()
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/../libexec/assay")
  foreach(library IN LISTS ARGN)
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
      install(CODE "file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/libexec/assay\"
        TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES \"$<TARGET_SONAME_FILE:${library}>\")")
    endif()
  endforeach()
endfunction()
