/* SPDX-License-Identifier: Apache-2.0
 *
 * assay's C interface: everything that crosses the border between a plugin and the host.
 *
 * Plain structs and function pointers, readable as C11 and as C++. No C++ type, no exception and no
 * ownership crosses. A plugin written in any language, with any compiler and any standard library,
 * loads into any host of the same ABI major and of an equal or newer minor.
 *
 * Growth: a struct grows only at its end, and says its own size in its first member; a table of
 * functions likewise. Whoever reads a struct reads no more than struct_size bytes of it, so that
 * the members behind the end count as zero. Values of an enum are never given a new meaning.
 *
 * Text is UTF-8, ends with a zero byte, and is valid during the call that passes it; the receiver
 * copies what it keeps. Pointers to arrays may be NULL when their count is 0.
 *
 * Threads: the host calls a plugin's functions from one thread at a time, and the functions of the
 * host's tables may be called from that thread only, during the call that passed the table.
 *
 * C++ authors write against assay/plugin.hpp, which wraps all of this.
 */
#ifndef ASSAY_ABI_H
#define ASSAY_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_ABI_MAJOR 1 /* another major: another interface; the host refuses the plugin */
#define ASSAY_ABI_MINOR 3 /* one more for each addition at the end of a struct or table */
#define ASSAY_STAMP_MAGIC "ASSAYPLG" /* 8 characters; the closing zero is not part of it */

#if defined(_WIN32)
#define ASSAY_EXPORT __declspec(dllexport)
#else
#define ASSAY_EXPORT __attribute__((visibility("default")))
#endif

/* The stamp lies in a section of its own, by which the host recognises a plugin without opening it,
 * stripped or not. (On Windows it goes by the exported names.) */
#if defined(__ELF__)
#define ASSAY_STAMP_SECTION_NAME "assay_stamp"
#define ASSAY_STAMP_SECTION __attribute__((section(ASSAY_STAMP_SECTION_NAME)))
#else
#define ASSAY_STAMP_SECTION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ the stamp */

/* What a plugin says of itself before any of its code runs. A plugin exports one constant of this
 * type, named assay_plugin_stamp. The character arrays end with a zero byte. */
typedef struct assay_stamp {
  char magic[8];        /* ASSAY_STAMP_MAGIC */
  uint32_t struct_size; /* sizeof(assay_stamp) as the plugin was built */
  uint16_t abi_major;   /* ASSAY_ABI_MAJOR as the plugin was built */
  uint16_t abi_minor;   /* the oldest host minor that will do */
  char id[48];          /* "norm", "com.acme.ops": [a-z0-9_.-]+, unique among loaded plugins */
  char version[24];     /* the plugin's own version, "1.0" */
  char vendor[48];      /* for people: "assay project" */
  char accelerator[16]; /* "any"; "rocm" or "cuda": only of use where LibTorch is such a build */
  /* Since minor 3: ASSAY_BRINGS_*, or 0: not said. `--enable plugin:ID` leaves a plugin of
   * diagnostics alone on, and opens no other plugin than those it names. */
  uint32_t brings;
} assay_stamp;

#define ASSAY_BRINGS_CHECKS 1u
#define ASSAY_BRINGS_DIAGNOSTICS 2u /* probes, classifiers */

/* ------------------------------------------------------------------ dtypes and inputs */

typedef enum assay_dtype {
  ASSAY_DTYPE_OF_CHECK = 0, /* the dtype under which the check is run: see assay_check.dtypes */
  ASSAY_DTYPE_FLOAT32 = 1,
  ASSAY_DTYPE_FLOAT64 = 2,
  ASSAY_DTYPE_FLOAT16 = 3,
  ASSAY_DTYPE_BFLOAT16 = 4,
  ASSAY_DTYPE_INT64 = 5,
  ASSAY_DTYPE_INT32 = 6,
  ASSAY_DTYPE_INT16 = 7,
  ASSAY_DTYPE_INT8 = 8,
  ASSAY_DTYPE_UINT8 = 9,
  ASSAY_DTYPE_BOOL = 10
} assay_dtype;

typedef enum assay_fill {
  ASSAY_FILL_NORMAL = 0,  /* mean 0, standard deviation 1, magnitude below 3.5, never 0 */
  ASSAY_FILL_UNIFORM = 1, /* evenly in [low, high), never 0 (integers: may be 0) */
  ASSAY_FILL_INDEX = 2,   /* whole numbers, evenly in [low, high) */
  ASSAY_FILL_MASK = 3,    /* bool: true with probability low (0 < low < 1) */
  /* Since minor 3. */
  ASSAY_FILL_DISTINCT = 4 /* whole numbers in [low, high); along each dimension all different, as
                             far as the range has enough of them */
} assay_fill;

/* One input tensor. The engine makes it once, outside the timed region, from a seed that follows
 * from the check's id, the input's position and the run's seed: the same values on every device,
 * compiler and LibTorch version. */
typedef struct assay_input {
  uint32_t struct_size;
  int32_t dtype; /* assay_dtype */
  int32_t fill;  /* assay_fill */
  uint32_t dimensions;
  const int64_t* sizes; /* `dimensions` sizes, each > 0 (since minor 3: or 0); none: a scalar */
  double low, high;     /* as the fill says; otherwise ignored */
  /* Since minor 3. */
  const int64_t* strides; /* `dimensions` strides in elements, each >= 0; NULL: contiguous. A
                             dimension of stride 0 repeats its first slice; other elements may not
                             share memory */
} assay_input;

/* ------------------------------------------------------------------ plans */

typedef enum assay_value_kind {
  ASSAY_VALUE_NONE = 0,       /* None, for an optional argument */
  ASSAY_VALUE_INPUT = 1,      /* integer: position in assay_check.inputs */
  ASSAY_VALUE_RESULT = 2,     /* integer: position of an earlier call; item: which of its results */
  ASSAY_VALUE_BOOL = 3,       /* integer: 0 or 1 */
  ASSAY_VALUE_INT = 4,        /* integer */
  ASSAY_VALUE_FLOAT = 5,      /* real */
  ASSAY_VALUE_STRING = 6,     /* text */
  ASSAY_VALUE_DTYPE = 7,      /* integer: assay_dtype; since minor 3 also that of the check */
  ASSAY_VALUE_INT_LIST = 8,   /* integers, count */
  ASSAY_VALUE_FLOAT_LIST = 9, /* reals, count */
  ASSAY_VALUE_LIST = 10,      /* items, count: tensors (inputs and results; since minor 3: None) */
  /* Since minor 3. */
  ASSAY_VALUE_DEVICE = 11,   /* the device under test (of the reference: the CPU) */
  ASSAY_VALUE_BOOL_LIST = 12 /* integers, each 0 or 1, count */
} assay_value_kind;

/* One argument of a call. Its size is fixed for the life of ABI major 1. */
typedef struct assay_value {
  uint32_t kind;        /* assay_value_kind */
  uint32_t item;        /* ASSAY_VALUE_RESULT: which result of a call that has several */
  const char* argument; /* name in the operator's schema; NULL: the next by position */
  int64_t integer;
  double real;
  const char* text;
  const int64_t* integers;
  const double* reals;
  const struct assay_value* items;
  uint64_t count;
  uint64_t reserved[2]; /* 0 */
} assay_value;

/* One operator call. Arguments that are not given take the schema's default. An int is accepted
 * where the schema wants a float, a number, or a list of ints (repeated to the list's length); a
 * number where it wants a tensor (as in Python: it does not decide the result's dtype); a string
 * where it wants a layout ("strided") or a memory format ("channels_last"). */
typedef struct assay_call {
  uint32_t struct_size;
  uint32_t argument_count;
  const char* op; /* schema name with overload: "aten::add.Tensor", "aten::relu" */
  const assay_value* arguments;
  /* Since minor 3. */
  const char* source; /* where the author wrote it, "pack.assay.toml:17": errors begin with it */
} assay_call;

/* ------------------------------------------------------------------ what is expected of a check */

typedef enum assay_path_grade {
  ASSAY_PATH_FAST = 0,       /* what this operator should take on a device that has it */
  ASSAY_PATH_ACCEPTABLE = 1, /* works at speed, though a faster one exists on some devices */
  ASSAY_PATH_SLOW = 2        /* a fallback: worth a warning */
} assay_path_grade;

typedef enum assay_path_source {
  ASSAY_PATH_OPERATOR =
      0,                /* pattern: operators dispatched in the call, "aten::miopen_batch_norm" */
  ASSAY_PATH_KERNEL = 1 /* pattern: names of device kernels as the profiler gives them */
} assay_path_source;

/* One way in which LibTorch may serve the check, and how it is recognised. The first entry that
 * matches names the path; several entries may have the same name. */
typedef struct assay_path {
  uint32_t struct_size;
  int32_t grade;       /* assay_path_grade */
  int32_t source;      /* assay_path_source */
  const char* name;    /* for the report, short: "flash", "miopen", "math" */
  const char* pattern; /* glob over the whole name: * ? [..] */
} assay_path;

/* The work of one call, from the algorithm and not from what a kernel happens to do. */
typedef struct assay_cost {
  uint32_t struct_size;
  uint32_t matrix; /* 1: the FLOPs are multiply-adds that matrix units can do */
  double elements; /* elements of the check's dtype that must be read or written at least once */
  double bytes;    /* bytes of other dtypes, likewise (indices, masks) */
  double flops;    /* floating-point operations, a multiply-add counting as 2; 0: not stated */
} assay_cost;

#define ASSAY_ACCURACY_EXACT 1u       /* the reference rounded to the output's dtype, bit for bit */
#define ASSAY_ACCURACY_CONTRACTION 2u /* a device may multiply in TF32 where LibTorch allows it */
/* Since minor 3: the output is not compared, since inputs that are made cannot belong together as
 * the operator needs it (indices that an earlier pooling found), or since devices fill it
 * differently by design. What it says of correctness is then `unknown`. */
#define ASSAY_ACCURACY_INCOMPARABLE 4u

/* How near the output must be to the reference. With u = 2^-24 (float32), 2^-11 (float16), 2^-8
 * (bfloat16), 2^-53 (float64), and u_acc that of the type in which sums are kept (float32 for the
 * half types), the bound on the normalised error is
 *     roundings * u + sqrt(terms) * u_acc  (+ 2^-11 with TF32)
 * (N. Higham and T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
 * Comput. 41, 2019: sums of n terms lose about sqrt(n) u). */
typedef struct assay_accuracy {
  uint32_t struct_size;
  uint32_t flags;
  double roundings;        /* roundings to the check's dtype on the way to one output element */
  double terms;            /* length of the longest sum behind one output element */
  int32_t picks_input;     /* integer outputs are indices into this input, and ties may be */
  int32_t picks_dimension; /*   resolved either way; -1: they are compared as they are */
} assay_accuracy;

#define ASSAY_REQUIRES_DTYPE_ARITHMETIC 1u /* the device can add in the check's dtype */

/* What must hold for a check to be run; where it does not, the check is skipped with what is
 * missing as its reason. A member that is NULL or 0 asks for nothing. Since minor 3. */
typedef struct assay_requirements {
  uint32_t struct_size;
  uint32_t flags;
  const char* accelerator;    /* "cpu", "rocm" or "cuda"; several: separated by commas */
  const char* architectures;  /* globs over "gfx1032" or "sm_90", separated by commas */
  const char* torch_at_least; /* LibTorch's version, "2.7" or "2.7.1" */
  const char* torch_below;    /* LibTorch's version: an older one than this */
  uint64_t free_memory_bytes; /* free on the device when the check is about to run */
} assay_requirements;

/* One check: an operator, or a small composite, on fixed inputs. Its output is every tensor that
 * the last call returns. The id that people see is "category/name[dtype]". */
typedef struct assay_check {
  uint32_t struct_size;
  uint32_t input_count;
  const char* category; /* [a-z0-9_]+ */
  const char* name;     /* [a-z0-9_]+ */
  const assay_input* const* inputs;
  const assay_call* const* calls;
  uint32_t call_count;   /* at least 1 */
  uint32_t dtype_count;  /* at least 1 */
  const int32_t* dtypes; /* assay_dtype: those it can run under; the first is the default */
  /* Since minor 1. All may be absent; what follows from it is then reported as unknown. */
  const assay_cost* cost; /* NULL: bytes are those of inputs and outputs, FLOPs not stated */
  const assay_accuracy* accuracy; /* NULL: roundings 16, terms 1 */
  const assay_path* const* paths;
  /* The reference: these calls on the CPU in float64, from the same inputs, give what the plan's
   * last call gives. None: the plan itself. */
  const assay_call* const* reference_calls;
  uint32_t path_count;
  uint32_t reference_call_count;
  /* The same check at sizes that fill a device (several times its last-level cache); NULL: there
   * are none. Its category, name, dtypes, paths and `large` are not read. */
  const struct assay_check* large;
  /* Since minor 3. */
  const assay_requirements* needs; /* NULL: nothing beyond what the plugin requires */
  const char* summary;             /* one line for people; NULL: none */
  const char* source;              /* where the author wrote it; NULL: not said */
  uint64_t weight; /* how often the model that it was recorded from makes this call; 0: not said */
} assay_check;

/* ------------------------------------------------------------------ probes and classifiers */

/* Gives one piece of text to the host. `name` is a key such as "state" or "evidence". */
typedef struct assay_sink {
  uint32_t struct_size;
  void (*put)(const struct assay_sink* self, const char* name, const char* text);
  void* context;
} assay_sink;

/* Where a probe is to look. Members may be NULL: not known. */
typedef struct assay_site {
  uint32_t struct_size;
  const char* root;         /* every file is read below this folder; "/" on a real machine */
  const char* torch_dir;    /* LibTorch's folder: has lib/ */
  const char* architecture; /* of the GPU in question: "gfx1032", "sm_90" */
} assay_site;

/* A probe answers one question about the environment without running an operator. It puts
 *   "state"    "yes", "no" or "unknown": the answer to the question that its summary asks;
 *   "fact"     one line for people: what was seen;
 *   "evidence" a line that proves it, as it stands in the file or the library's log; repeatable;
 *   "finding"  a code of the catalogue, where what was seen is a fault; repeatable;
 * and under any other key ("architecture") a value for people and programs. It returns 0, or
 * another number when it could not look, with "reason" put.
 *
 * The host runs each probe in a process of its own, which it ends after a deadline: a probe may
 * load libraries that crash. */
typedef struct assay_probe {
  uint32_t struct_size;
  const char* id;      /* "rocm.kfd_readable": unique among loaded plugins */
  const char* summary; /* the question, one line: "may this process open /dev/kfd?" */
  int (*run)(void* self, const assay_sink* answer);
  void* self; /* the plugin's; valid until the process ends */
  /* Since minor 2: called in place of `run` where it is not NULL. */
  int (*look)(void* self, const assay_site* site, const assay_sink* answer);
} assay_probe;

/* Everything known of one failed or suspicious run of a check, or of a pasted log. Members may be
 * NULL or empty: not known. */
typedef struct assay_failure {
  uint32_t struct_size;
  const char* check;      /* id */
  const char* status;     /* "error", "crash", "timeout", "ok" (with warnings) */
  const char* phase;      /* "bind", "inputs", "first_call", "warm_up", "timed", ... */
  const char* device;     /* "cuda:0" */
  const char* error_type; /* "c10::Error", "std::runtime_error" */
  const char* error_text;
  const char* stderr_text;
  const char* warnings;      /* one a line */
  const char* torch_version; /* "2.11.0" */
  const char* torch_build;   /* "rocm", "cuda" or "cpu" */
  /* Since minor 2. */
  const char* stdout_text;
  const char* log;          /* of `assay explain`: the lines that matter, in order */
  const char* trace;        /* LibTorch's C++ trace of the error */
  const char* end;          /* "SIGSEGV", "exit status 3": how the process ended */
  const char* operators;    /* of the plan: "aten::batch_norm", one a line */
  const char* dtype;        /* "float16" */
  const char* architecture; /* "gfx1032", "sm_90" */
  const char* device_name;  /* "AMD Radeon RX 6650 XT" */
  const char* platform;     /* "linux", "wsl" or "windows" */
  const char* chain;        /* links that are not fine: "path warn: math (slow)", one a line */
  const char* environment;  /* NAME=value, one a line: those that GPU libraries read */
  const char* probes;       /* those that were asked: "rocm.kfd no: fact", one a line */
} assay_failure;

/* A classifier reads one failure and puts, for each diagnosis it has, "code" first, then
 * "confidence" ("possible" or "likely"), "evidence" (a line as it stands in the failure;
 * repeatable), and "cause" and "advice" where it knows more than the catalogue says. Nothing put:
 * it does not know. Returns 0, or another number when it could not work, with "reason" put. */
typedef struct assay_classifier {
  uint32_t struct_size;
  const char* id;      /* "torch.out_of_memory": unique among loaded plugins */
  const char* summary; /* one line for assay list */
  int (*classify)(void* self, const assay_failure* failure, const assay_sink* answer);
  void* self; /* the plugin's; valid until the process ends */
} assay_classifier;

/* ------------------------------------------------------------------ entry */

typedef enum assay_option_kind {
  ASSAY_OPTION_TEXT = 0,
  ASSAY_OPTION_BOOLEAN = 1, /* true, false, yes, no, 1 or 0 */
  ASSAY_OPTION_INTEGER = 2,
  ASSAY_OPTION_REAL = 3
} assay_option_kind;

/* One setting that a plugin offers to its users (--set PLUGIN.NAME=VALUE). Since minor 3. */
typedef struct assay_option {
  uint32_t struct_size;
  int32_t kind;             /* assay_option_kind */
  const char* name;         /* [a-z0-9_]+, unique in the plugin */
  const char* summary;      /* one line: what it does, with its unit */
  const char* choices;      /* TEXT: the only values, separated by commas; NULL: any text */
  double low, high;         /* INTEGER and REAL: low <= value <= high; both 0: no bounds */
  const char* default_text; /* the default, of TEXT */
  int64_t default_integer;  /*   of INTEGER, and of BOOLEAN (0 or 1) */
  double default_real;      /*   of REAL */
} assay_option;

/* The value in force, in the member of its kind. */
typedef struct assay_option_value {
  uint32_t struct_size; /* the plugin's, which sets it before the call */
  const char* text;     /* valid until the entry function returns */
  int64_t integer;
  double real;
} assay_option_value;

/* What a plugin registers with. Every function copies what it is given, and returns NULL, or one
 * line that says what is wrong (valid until the next call). Registrations are kept aside and take
 * effect together, when the entry function returns 0; if it does not, none of them does. */
typedef struct assay_registrar {
  uint32_t struct_size;
  const char* (*add_category)(struct assay_registrar* self, const char* name, const char* summary);
  const char* (*add_check)(struct assay_registrar* self, const assay_check* check);
  /* An ordinary TORCH_LIBRARY extension whose operators the plugin's checks call. A path that is
   * not absolute starts at the plugin file's folder. It is opened by the engine, once LibTorch is
   * loaded and before the first check of this plugin is bound. */
  const char* (*add_operator_library)(struct assay_registrar* self, const char* path);
  const char* (*add_probe)(struct assay_registrar* self, const assay_probe* probe);
  const char* (*add_classifier)(struct assay_registrar* self, const assay_classifier* classifier);
  /* Says why the entry function is about to return something else than 0. */
  void (*fail)(struct assay_registrar* self, const char* reason);
  /* Since minor 3. Declares an option and gives at once the value in force: the user's, which is
   * then known to be of this kind and within its bounds, or the default. A value of the user's that
   * is not is turned down; the plugin passes the refusal on to fail() and returns. */
  const char* (*add_option)(struct assay_registrar* self, const assay_option* option,
                            assay_option_value* value);
  /* Since minor 3. What all checks of this plugin require, beyond what each requires itself. */
  const char* (*require)(struct assay_registrar* self, const assay_requirements* needs);
} assay_registrar;

/* What the host says of itself. */
typedef struct assay_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  const char* version; /* of assay, "0.1.0" */
} assay_host;

/* The two names that a plugin exports. The entry function is called once, must be quick, run no
 * operator and start no thread, and returns 0 when all was registered. */
extern ASSAY_EXPORT ASSAY_STAMP_SECTION const assay_stamp assay_plugin_stamp;
ASSAY_EXPORT int assay_plugin_entry(const assay_host* host, assay_registrar* registrar);

typedef int (*assay_plugin_entry_fn)(const assay_host* host, assay_registrar* registrar);

#ifdef __cplusplus
}
#endif

#endif
