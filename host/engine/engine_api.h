/* SPDX-License-Identifier: Apache-2.0
 *
 * The border between assay-worker and an engine: plain C, since an engine is compiled against one
 * LibTorch version and perhaps with another C++ ABI than the worker. Private to the host: worker
 * and engine are of the same assay release, which ASSAY_ENGINE_API checks.
 *
 * Every function is called from one thread at a time and never throws. JSON texts are UTF-8, made
 * by the engine and given back to release().
 */
#ifndef ASSAY_ENGINE_API_H
#define ASSAY_ENGINE_API_H

#include <assay/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_ENGINE_API 3

typedef enum assay_profile {
  ASSAY_PROFILE_CLASSIC = 0, /* first call, 2 more warm-up calls, 20 timed calls */
  ASSAY_PROFILE_QUICK = 1,   /* the same, with fewer timed calls where 20 would take over 100 ms */
  ASSAY_PROFILE_MEASURE = 2  /* warm up until steady, sample until the median is known to 2 % */
} assay_profile;

typedef struct assay_engine_job {
  uint32_t struct_size;
  int32_t profile; /* assay_profile */
  const assay_check* check;
  int32_t dtype;                /* assay_dtype, one of the check's */
  const char* device;           /* "cpu", "cuda:0" */
  uint64_t seed;                /* of the run; 0 is a seed like any other */
  double measure_limit_s;       /* ASSAY_PROFILE_MEASURE: time after which sampling stops */
  const char* const* libraries; /* absolute paths of the plugin's operator libraries */
  uint32_t library_count;
  uint32_t untimed;       /* 1: run it once and take no times */
  uint32_t evidence;      /* 1: gather the chain of evidence */
  uint32_t large;         /* 1: the check's large form, where it has one */
  uint32_t cold;          /* 1: also time calls whose data are not in the caches */
  const char* trace_file; /* where the profiler's trace goes; NULL: nowhere */
  /* Called as each phase begins: "library", "bind", "inputs", "first_call", "warm_up", "timed",
   * "device_time", "cold", "evidence". */
  void (*phase)(void* context, const char* name);
  void* context;
} assay_engine_job;

typedef struct assay_engine {
  uint32_t struct_size;
  uint32_t api;              /* ASSAY_ENGINE_API */
  const char* torch_version; /* of the headers it was compiled with: "2.11.0" */
  /* After the LibTorch libraries were opened (`backend_library`: the path of the GPU one, or NULL):
   * "torch_version" (of the loaded library), "build"
   * ("rocm", "cuda", "cpu"), "devices": [{"device","name","architecture"}]. */
  char* (*describe)(const char* backend_library);
  /* Runs one check and answers a result: the members that docs/results-format.md marks "engine". */
  char* (*run)(const assay_engine_job* job);
  /* Starts what the chain of evidence needs, before the first check that asks for it: "state"
   * ("seen", "unknown") and "why" of the profiler on this device. */
  char* (*prepare_evidence)(const char* device);
  /* Measures what this device can reach: the members of a `ceilings` line that
   * docs/evidence-format.md lists, or "state" "unknown" and "why". */
  char* (*ceilings)(const char* device);
  /* What a check may require of a device: "free_bytes" of its memory, or, with an assay_dtype
   * other than 0, "adds": whether it can add in it. null: not asked or not known; "why" not. */
  char* (*device_state)(const char* backend_library, const char* device, int32_t dtype);
  /* Binds a check and goes through its calls without taking times, on "cpu" or, where only sizes
   * are asked for, on "meta": "status" ("ok", "error", "unknown": this cannot be tried on meta),
   * "phase" ("library", "bind", "call"), "message", "calls": [{"op", "inputs", "outputs"}], the
   * tensors in and out of each call as {"shape","dtype","bytes"}. */
  char* (*inspect)(const assay_engine_job* job);
  /* "names": every operator that there is now, "aten::add.Tensor". */
  char* (*operators)(void);
  void (*release)(char* text);
} assay_engine;

/* The one name that an engine exports. */
ASSAY_EXPORT const assay_engine* assay_engine_get(void);
typedef const assay_engine* (*assay_engine_get_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
