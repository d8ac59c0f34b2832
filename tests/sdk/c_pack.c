/* SPDX-License-Identifier: Apache-2.0
 *
 * An op pack in C11, without the C++ layer: one check, c_pack/add. */
#include <assay/abi.h>

const assay_stamp assay_plugin_stamp = {
    .magic = ASSAY_STAMP_MAGIC,
    .struct_size = sizeof(assay_stamp),
    .abi_major = ASSAY_ABI_MAJOR,
    .abi_minor = ASSAY_ABI_MINOR,
    .id = "test.c_pack",
    .version = "1.0",
    .vendor = "assay tests",
    .accelerator = "any",
};

int assay_plugin_entry(const assay_host* host, assay_registrar* registrar) {
  static const int64_t sizes[] = {128, 512};
  const assay_input x = {
      .struct_size = sizeof x,
      .dtype = ASSAY_DTYPE_OF_CHECK,
      .fill = ASSAY_FILL_NORMAL,
      .dimensions = 2,
      .sizes = sizes,
  };
  const assay_input* const inputs[] = {&x, &x};

  const assay_value arguments[] = {
      {.kind = ASSAY_VALUE_INPUT, .integer = 0},
      {.kind = ASSAY_VALUE_INPUT, .integer = 1},
      {.kind = ASSAY_VALUE_INT, .argument = "alpha", .integer = 2},
  };
  const assay_call add = {
      .struct_size = sizeof add,
      .argument_count = 3,
      .op = "aten::add.Tensor",
      .arguments = arguments,
  };
  const assay_call* const calls[] = {&add};

  static const int32_t dtypes[] = {ASSAY_DTYPE_FLOAT32, ASSAY_DTYPE_FLOAT64};
  const assay_check check = {
      .struct_size = sizeof check,
      .input_count = 2,
      .category = "c_pack",
      .name = "add",
      .inputs = inputs,
      .calls = calls,
      .call_count = 1,
      .dtype_count = 2,
      .dtypes = dtypes,
  };

  (void)host;
  const char* refusal = registrar->add_category(registrar, "c_pack", "an op pack written in C");
  if (refusal == NULL) {
    refusal = registrar->add_check(registrar, &check);
  }
  if (refusal != NULL) {
    registrar->fail(registrar, refusal);
    return 1;
  }
  return 0;
}
