/* SPDX-License-Identifier: Apache-2.0
 *
 * Probes and classifiers with one fault each; the C++ layer would not let most of them happen.
 */
#include <assay/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const assay_stamp assay_plugin_stamp = {
    .magic = ASSAY_STAMP_MAGIC,
    .struct_size = sizeof(assay_stamp),
    .abi_major = ASSAY_ABI_MAJOR,
    .abi_minor = 2,
    .id = "faulty_diagnostic",
    .version = "1.0",
    .vendor = "assay tests",
    .accelerator = "any",
};

static int perhaps(void* self, const assay_sink* answer) {
  (void)self;
  answer->put(answer, "state", "perhaps");
  return 0;
}

static int varies(void* self, const assay_sink* answer) {
  struct timespec now;
  (void)self;
  timespec_get(&now, TIME_UTC);
  /* Letters, since a number may differ: the lowest bits of the clock. */
  char fact[17] = {0};
  for (int i = 0; i < 16; ++i) {
    fact[i] = (char)('a' + ((now.tv_nsec >> i) & 1));
  }
  answer->put(answer, "state", "yes");
  answer->put(answer, "fact", fact);
  return 0;
}

static int finds_unknown(void* self, const assay_sink* answer) {
  (void)self;
  puts("planted: a probe prints");
  answer->put(answer, "state", "no");
  answer->put(answer, "fact", "planted");
  answer->put(answer, "finding", "NO-SUCH-CODE");
  return 0;
}

static int hangs(void* self, const assay_sink* answer) {
  (void)self;
  (void)answer;
  for (volatile int forever = 1; forever;) {
  }
  return 0;
}

static int guesses(void* self, const assay_failure* failure, const assay_sink* answer) {
  (void)self;
  (void)failure;
  answer->put(answer, "code", "FAULTY-DIAGNOSTIC");
  answer->put(answer, "confidence", "likely");
  return 0;
}

static int aborts(void* self, const assay_failure* failure, const assay_sink* answer) {
  (void)self;
  (void)answer;
  if (failure->log != NULL && strlen(failure->log) > 1000000) {
    abort();
  }
  return 0;
}

static int names_unknown(void* self, const assay_failure* failure, const assay_sink* answer) {
  (void)self;
  if (failure->log != NULL) {
    answer->put(answer, "code", "NO-SUCH-CODE");
    answer->put(answer, "confidence", "likely");
  }
  return 0;
}

static int add_probe(assay_registrar* registrar, const char* id, const char* summary,
                     int (*run)(void*, const assay_sink*)) {
  const assay_probe probe = {.struct_size = sizeof probe, .id = id, .summary = summary, .run = run};
  return registrar->add_probe(registrar, &probe) != NULL;
}

static int add_classifier(assay_registrar* registrar, const char* id,
                          int (*classify)(void*, const assay_failure*, const assay_sink*)) {
  const assay_classifier classifier = {
      .struct_size = sizeof classifier, .id = id, .summary = "planted", .classify = classify};
  return registrar->add_classifier(registrar, &classifier) != NULL;
}

int assay_plugin_entry(const assay_host* host, assay_registrar* registrar) {
  (void)host;
  return add_probe(registrar, "faulty.perhaps", "planted?", perhaps) ||
         add_probe(registrar, "faulty.varies", "", varies) ||
         add_probe(registrar, "faulty.finds_unknown", "planted?", finds_unknown) ||
         add_probe(registrar, "faulty.hangs", "planted?", hangs) ||
         add_classifier(registrar, "faulty.guesses", guesses) ||
         add_classifier(registrar, "faulty.aborts", aborts) ||
         add_classifier(registrar, "faulty.names_unknown", names_unknown);
}
