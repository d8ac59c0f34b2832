// SPDX-License-Identifier: Apache-2.0
//
// One check for each faulty operator. Like every op pack it is not compiled against LibTorch.
#include <assay/plugin.hpp>

using namespace assay;

ASSAY_PLUGIN("planted", "1.0", "assay tests")(registry& plugin) {
  plugin.operator_library("libplanted_operators.so");
  const input x = randn({8, 8});
  auto& group = plugin.category("planted", "operators with planted faults");

  group.check("fine", {x}, call("planted::fine", in(0)));
  group.check("throws", {x}, call("planted::throws", in(0)));
  group.check("throws_nonstd", {x}, call("planted::throws_nonstd", in(0)));
  group.check("returns_cpu", {x}, call("planted::returns_cpu", in(0)));
  group.check("warns", {x}, call("planted::warns", in(0)));
  group.check("prints_stderr", {x}, call("planted::prints_stderr", in(0), 10'000'000));
  group.check("prints_stdout", {x}, call("planted::prints_stdout", in(0), 10'000'000));
  group.check("tells", {x}, call("planted::tells", in(0)));
  group.check("out_of_memory", {x}, call("planted::out_of_memory", in(0)));
  group.check("aborts", {x}, call("planted::aborts", in(0)));
  group.check("segfaults", {x}, call("planted::segfaults", in(0)));
  group.check("exits", {x}, call("planted::exits", in(0), 0));
  group.check("leaves_thread", {x}, call("planted::leaves_thread", in(0)));
  group.check("sleeps", {x}, call("planted::sleeps", in(0), 3600.0));
  group.check("sleeps_briefly", {x}, call("planted::sleeps", in(0), 0.02));
  group.check("hangs", {x}, call("planted::hangs", in(0)));
}
