# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=a;b -DOUTPUT=c -P join_files.cmake
set(joined "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  string(APPEND joined "${text}\n")
endforeach()
file(WRITE "${OUTPUT}" "${joined}")
