// SPDX-License-Identifier: Apache-2.0
//
// A library that is no plugin, and that must not be opened: this runs when it is.
#include <cstdlib>

namespace {
struct opened {
  opened() { std::abort(); }
} const planted;
}  // namespace
