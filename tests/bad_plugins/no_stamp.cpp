// SPDX-License-Identifier: Apache-2.0
//
// A library that is no plugin, though its name says so.
#include <cstdio>

static void greet() { std::puts("planted: nobody asked"); }

extern "C" __attribute__((visibility("default"))) void unrelated() { greet(); }
