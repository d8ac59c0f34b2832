/* SPDX-License-Identifier: Apache-2.0
 *
 * An op pack in C11, without CMake and without the C++ layer:
 *
 *     mkdir -p plugins
 *     cc -std=c11 -shared -fPIC $(pkg-config --cflags assay) c_pack.c -o plugins/c_pack.assay.so
 *     assay run --plugin-dir plugins --enable c_pack
 *
 * assay copies all that is handed over, so that everything here may live on the stack. */
#include <assay/abi.h>

const assay_stamp assay_plugin_stamp = {
    .magic = ASSAY_STAMP_MAGIC,
    .struct_size = sizeof(assay_stamp),
    .abi_major = ASSAY_ABI_MAJOR,
    .abi_minor = ASSAY_ABI_MINOR,
    .id = "com.example.c_pack",
    .version = "1.0",
    .vendor = "Example Ltd",
    .accelerator = "any",
};

/* y = gelu(x w^T), the tanh form: two calls, the second of which takes the first one's result. */
static const char* add_linear_gelu(assay_registrar* registrar) {
  enum { rows = 64, width = 256 };

  const int64_t x_sizes[] = {rows, width};
  const int64_t weight_sizes[] = {width, width};
  const assay_input x = {
      .struct_size = sizeof x,
      .dtype = ASSAY_DTYPE_OF_CHECK,
      .fill = ASSAY_FILL_NORMAL,
      .dimensions = 2,
      .sizes = x_sizes,
  };
  assay_input weight = x;
  weight.sizes = weight_sizes;
  const assay_input* const inputs[] = {&x, &weight};

  const assay_value linear_arguments[] = {
      {.kind = ASSAY_VALUE_INPUT, .integer = 0},
      {.kind = ASSAY_VALUE_INPUT, .integer = 1},
  };
  const assay_call linear = {
      .struct_size = sizeof linear,
      .argument_count = 2,
      .op = "aten::linear",
      .arguments = linear_arguments,
  };
  const assay_value gelu_arguments[] = {
      {.kind = ASSAY_VALUE_RESULT, .integer = 0},
      {.kind = ASSAY_VALUE_STRING, .argument = "approximate", .text = "tanh"},
  };
  const assay_call gelu = {
      .struct_size = sizeof gelu,
      .argument_count = 2,
      .op = "aten::gelu",
      .arguments = gelu_arguments,
  };
  const assay_call* const calls[] = {&linear, &gelu};

  /* x goes in and out twice, the weights go in once. */
  const assay_cost cost = {
      .struct_size = sizeof cost,
      .matrix = 1,
      .elements = 4.0 * rows * width + (double)width * width,
      .flops = 2.0 * rows * width * width,
  };
  const assay_accuracy accuracy = {
      .struct_size = sizeof accuracy,
      .flags = ASSAY_ACCURACY_CONTRACTION,
      .roundings = 10,
      .terms = width,
      .picks_input = -1,
      .picks_dimension = -1,
  };
  const int32_t dtypes[] = {ASSAY_DTYPE_FLOAT32, ASSAY_DTYPE_FLOAT16, ASSAY_DTYPE_BFLOAT16};
  const assay_check check = {
      .struct_size = sizeof check,
      .input_count = 2,
      .category = "c_pack",
      .name = "linear_gelu",
      .inputs = inputs,
      .calls = calls,
      .call_count = 2,
      .dtype_count = 3,
      .dtypes = dtypes,
      .cost = &cost,
      .accuracy = &accuracy,
  };
  return registrar->add_check(registrar, &check);
}

int assay_plugin_entry(const assay_host* host, assay_registrar* registrar) {
  (void)host;
  const char* refusal = registrar->add_category(registrar, "c_pack", "an op pack written in C");
  if (refusal == NULL) {
    refusal = add_linear_gelu(registrar);
  }
  if (refusal != NULL) {
    registrar->fail(registrar, refusal);
    return 1;
  }
  return 0;
}
