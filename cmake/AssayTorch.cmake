# SPDX-License-Identifier: Apache-2.0
# The target assay_torch: one LibTorch by its files alone. PyTorch's own CMake package insists on a
# GPU toolkit, which nothing here needs. Sets ASSAY_TORCH_VERSION and ASSAY_TORCH_MAJOR_MINOR.

if(NOT TARGET assay_torch)
  set(lib ${ASSAY_TORCH_DIR}/lib)
  set(include ${ASSAY_TORCH_DIR}/include)
  if(NOT EXISTS ${include}/ATen/core/Tensor.h OR NOT EXISTS ${lib})
    message(FATAL_ERROR "ASSAY_TORCH_DIR='${ASSAY_TORCH_DIR}' is no LibTorch folder: it needs "
      "lib/ and include/ATen/")
  endif()
  set(version_header ${include}/torch/headeronly/version.h)
  if(NOT EXISTS ${version_header})
    set(version_header ${include}/torch/csrc/api/include/torch/version.h)
  endif()
  file(STRINGS ${version_header} lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE "[^0-9]+" ";" numbers "${lines}")
  list(REMOVE_ITEM numbers "")
  list(GET numbers 0 major)
  list(GET numbers 1 minor)
  list(GET numbers 2 patch)
  set(ASSAY_TORCH_VERSION ${major}.${minor}.${patch} CACHE INTERNAL "")
  set(ASSAY_TORCH_MAJOR_MINOR ${major}.${minor} CACHE INTERNAL "")
  if(ASSAY_TORCH_VERSION VERSION_LESS 2.6)
    message(FATAL_ERROR "LibTorch ${ASSAY_TORCH_VERSION} in ${ASSAY_TORCH_DIR} is too old: assay "
      "needs 2.6 or newer")
  endif()

  add_library(assay_torch INTERFACE)
  # What g++ 12 believes of LibTorch's reference counts, depending on how much it optimises.
  target_compile_options(assay_torch INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized>)
  # LibTorch is built with it, and the layout of at::RecordFunction depends on it.
  target_compile_definitions(assay_torch INTERFACE NDEBUG)
  target_include_directories(assay_torch SYSTEM INTERFACE ${include}
    ${include}/torch/csrc/api/include)
  if(WIN32)
    target_link_libraries(assay_torch INTERFACE ${lib}/torch_cpu.lib ${lib}/c10.lib)
  else()
    target_link_libraries(assay_torch INTERFACE ${lib}/libtorch_cpu.so ${lib}/libc10.so)
    target_link_options(assay_torch INTERFACE -Wl,--allow-shlib-undefined)
    # PyTorch's own wheels up to 2.6 use libstdc++'s old std::string. The mangled names of c10 tell;
    # other names do not count, since such a wheel holds parts of libstdc++ itself.
    file(STRINGS ${lib}/libc10.so new_abi LIMIT_COUNT 1
      REGEX "_ZNK?3c10.*NSt7__cxx1112basic_string")
    if(NOT new_abi)
      target_compile_definitions(assay_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
    endif()
  endif()
endif()
