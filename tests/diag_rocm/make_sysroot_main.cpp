// SPDX-License-Identifier: Apache-2.0
//
// make_sysroot DESCRIPTION FOLDER: for tests that drive the programs (assay doctor --sysroot).
#include <cstdio>
#include <exception>

#include "sysroot.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: make_sysroot DESCRIPTION FOLDER\n", stderr);
    return 2;
  }
  try {
    diag_rocm::testing::make_sysroot(std::filesystem::path(argv[1]), argv[2]);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "make_sysroot: %s\n", e.what());
    return 1;
  }
}
