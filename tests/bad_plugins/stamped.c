/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin in plain C, one fault at a time: what CMakeLists.txt defines takes the place of what
 * would be right. The SDK's own macro cannot write most of these stamps.
 */
#include <assay/abi.h>
#include <stdlib.h>

#ifndef BAD_MAGIC
#define BAD_MAGIC ASSAY_STAMP_MAGIC
#endif
#ifndef BAD_STRUCT_SIZE
#define BAD_STRUCT_SIZE sizeof(assay_stamp)
#endif
#ifndef BAD_MAJOR
#define BAD_MAJOR ASSAY_ABI_MAJOR
#endif
#ifndef BAD_MINOR
#define BAD_MINOR ASSAY_ABI_MINOR
#endif
#ifndef BAD_ID
#define BAD_ID "stamped"
#endif
#ifndef BAD_ACCELERATOR
#define BAD_ACCELERATOR "any"
#endif

const assay_stamp assay_plugin_stamp = {
    .magic = BAD_MAGIC,
    .struct_size = BAD_STRUCT_SIZE,
    .abi_major = BAD_MAJOR,
    .abi_minor = BAD_MINOR,
    .id = BAD_ID,
    .version = "1.0",
    .vendor = "assay tests",
    .accelerator = BAD_ACCELERATOR,
};

#ifndef BAD_NO_ENTRY
int assay_plugin_entry(const assay_host* host, assay_registrar* registrar) {
  (void)host;
#if defined(BAD_ENTRY_FAILS)
  registrar->fail(registrar, "planted: this plugin does not want to be loaded");
  return 1;
#elif defined(BAD_ENTRY_FAILS_SILENTLY)
  (void)registrar;
  return 7;
#elif defined(BAD_ENTRY_CRASHES)
  (void)registrar;
  abort();
#elif defined(BAD_ENTRY_HANGS)
  (void)registrar;
  for (volatile int forever = 1; forever;) {
  }
  return 0;
#else
  return registrar->add_category(registrar, "stamped", "a plugin in plain C") != NULL;
#endif
}
#endif
