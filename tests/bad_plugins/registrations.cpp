// SPDX-License-Identifier: Apache-2.0
//
// Plugins whose stamp is right and whose registrations are not, one fault at a time: CMakeLists.txt
// defines PLUGIN_ID and CHECK_NAME, and one of the BAD_ names below.
#include <assay/plugin.hpp>

#include <stdexcept>

using namespace assay;

#ifndef PLUGIN_ACCELERATOR
#define PLUGIN_ACCELERATOR "any"
#endif

ASSAY_PLUGIN(PLUGIN_ID, "1.0", "assay tests", PLUGIN_ACCELERATOR)(registry& plugin) {
#if defined(BAD_CATEGORY)
  auto& group = plugin.category("Upper", "a category whose name is not one");
#else
  auto& group = plugin.category("good", "checks of the loader's tests");
#endif
  const input x = randn({8, 8});

  group.check(CHECK_NAME, {x}, call("aten::relu", in(0)));
#if defined(BAD_THROWS)
  throw std::runtime_error("planted: the registration threw");
#elif defined(BAD_SAME_CHECK_TWICE)
  group.check(CHECK_NAME, {x}, call("aten::abs", in(0)));
#elif defined(BAD_OPERATOR)
  group.check("bad", {x}, call("aten::rleu", in(0)));
#elif defined(BAD_ARGUMENT)
  group.check("bad", {x}, call("aten::gelu", in(0), arg("aproximate", "tanh")));
#elif defined(BAD_RESULT)
  group.check("bad", {x}, call("aten::relu", in(0)), call("aten::relu", result(0, 3)));
#elif defined(BAD_CALL_ORDER)
  group.check("bad", {x}, call("aten::relu", result(1)), call("aten::relu", in(0)));
#elif defined(BAD_INPUT)
  group.check("bad", {x}, call("aten::relu", in(4)));
#endif
}
