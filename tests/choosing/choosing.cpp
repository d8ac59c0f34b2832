// SPDX-License-Identifier: Apache-2.0
//
// An op pack of a third party; CMakeLists.txt defines whose.
#include <assay/plugin.hpp>

#include <cstdlib>
#include <fstream>
#include <string>

using namespace assay;

#ifndef ACCELERATOR
#define ACCELERATOR "any"
#endif

namespace {

// What runs when the file is opened as a library, before anything is asked of it.
const bool opened = [] {
  if (const char* witness = std::getenv("CHOOSING_WITNESS")) {
    std::ofstream(witness, std::ios::app) << PLUGIN_ID << '\n';
  }
  return true;
}();

}  // namespace

ASSAY_PLUGIN(PLUGIN_ID, "1.2", VENDOR, ACCELERATOR)(registry& plugin) {
  auto& group = plugin.category(CATEGORY, "checks to be chosen among");
#if defined(LIBRARY)
  plugin.operator_library(LIBRARY);
#endif
#if defined(HAS_OPTIONS)
  const double eps = plugin.option("eps", 1e-5, "epsilon of every norm", 0.0, 1.0);
  const auto width = plugin.option("width", 32, "features of every input", 1, 4096);
  const value weight = plugin.option("affine", true, "with weights") ? value(in(1)) : value(none);
  const std::string side = plugin.option("side", "left", "where it is padded", "left,right");
  group.check("layer_norm", {randn({4, width}), randn({width})},
              call("aten::layer_norm", in(0), ints{width}, weight, none, eps));
  group.check("pad", {randn({4, 8})},
              call("aten::constant_pad_nd", in(0), side == "left" ? ints{1, 0} : ints{0, 1}, 0.0));
#else
  group.check("relu", {randn({8, 8})}, call("aten::relu", in(0)));
#endif
}
