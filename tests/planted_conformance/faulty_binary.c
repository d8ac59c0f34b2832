/* SPDX-License-Identifier: Apache-2.0
 *
 * Its registrations are right; its file is not: CMakeLists.txt links it wrongly.
 */
#include <assay/abi.h>

extern int torch_planted(void);
extern int helper_planted(void);

const assay_stamp assay_plugin_stamp = {
    .magic = ASSAY_STAMP_MAGIC,
    .struct_size = sizeof(assay_stamp),
    .abi_major = ASSAY_ABI_MAJOR,
    .abi_minor = 1,
    .id = "faulty_binary",
    .version = "1.0",
    .vendor = "assay tests",
    .accelerator = "any",
};

/* Exported beside the two names of a plugin. */
extern int planted_export;
int planted_export;

static int look(void* self, const assay_sink* answer) {
  (void)self;
  answer->put(answer, "state", "yes");
  answer->put(answer, "fact", "planted");
  return torch_planted() + helper_planted();
}

int assay_plugin_entry(const assay_host* host, assay_registrar* registrar) {
  (void)host;
  const assay_probe probe = {.struct_size = offsetof(assay_probe, look),
                             .id = "faulty_binary.fine",
                             .summary = "is this planted?",
                             .run = look};
  return registrar->add_probe(registrar, &probe) != NULL;
}
