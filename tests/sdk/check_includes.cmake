# SPDX-License-Identifier: Apache-2.0
# cmake -DHEADERS=<folder> -P check_includes.cmake
# The public headers include <assay/...> and the standard library only.
file(GLOB_RECURSE headers ${HEADERS}/*)
if(NOT headers)
  message(FATAL_ERROR "no header in ${HEADERS}")
endif()
foreach(header IN LISTS headers)
  file(STRINGS ${header} lines REGEX "^[ \t]*#[ \t]*include")
  foreach(line IN LISTS lines)
    # A standard header of C++ has neither folder nor extension; C's are named one by one.
    if(NOT line MATCHES "<assay/[a-z_/]+\\.(h|hpp)>|<[a-z_]+>|<(stddef|stdint|stdbool)\\.h>")
      message(SEND_ERROR "${header}: ${line}")
    endif()
  endforeach()
endforeach()
