# SPDX-License-Identifier: Apache-2.0
"""AMD's own libraries without a GPU, for the tests that ask them: see rocm_userland.

ASSAY_TEST_TREE is the build tree. ASSAY_TEST_ROCM is a folder for the unpacked packages (default:
below the build tree)."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TREE = pathlib.Path(os.environ.get("ASSAY_TEST_TREE") or ".").resolve()
PACKAGES = pathlib.Path(os.environ.get("ASSAY_TEST_ROCM") or TREE / "tests" / "rocm")
PROGRAM = TREE / "tests" / "hiprtc_ladder"
SKIPPED = 77
PATIENCE = 60

# What would change HIPRTC's answers, or where it is found.
FOREIGN = ("HIPRTC_", "AMD_COMGR_", "CPLUS_INCLUDE_PATH", "CPATH", "C_INCLUDE_PATH", "TMPDIR",
           "ROCM_", "HIP_", "HSA_", "LD_LIBRARY_PATH", "INCLUDE")


def fetch(*options, folder):
    """The folder of the unpacked libraries; ends the test as skipped where they cannot be had."""
    done = subprocess.run([HERE / "rocm_userland", *options, PACKAGES / folder],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == SKIPPED:
        sys.exit(SKIPPED)
    done.check_returncode()
    return pathlib.Path(done.stdout.strip())


def fetch_with_data():
    """Likewise, with rocBLAS and the others. That is much to fetch, so it must be asked for; what
    is there already is used."""
    if not (os.environ.get("ASSAY_TEST_ROCM_DATA") or (PACKAGES / "hip7data/.complete").exists()):
        print("skipped: fetches 700 MB, 3 GB unpacked; ASSAY_TEST_ROCM_DATA=1 asks for it",
              file=sys.stderr)
        sys.exit(SKIPPED)
    return fetch("--data", folder="hip7data")


def environment(**variables):
    kept = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | variables


def run_there(libraries, *command, **variables):
    """Runs a program under the loader of that tree."""
    return subprocess.run(
        [libraries / "ld-linux-x86-64.so.2", "--library-path", libraries, *command],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env=environment(**variables))


# What ROCm's libraries say where there is no GPU: library, function.
WITHOUT_DEVICE = {
    "hip": ("libamdhip64.so.7", "hipGetDeviceCount"),
    "hsa": ("libhsa-runtime64.so.1", "hsa_init"),
    "miopen": ("libMIOpen.so.1", "miopenCreate"),
    "rocblas": ("librocblas.so.5", "rocblas_initialize"),
    "rocblas_handle": ("librocblas.so.5", "rocblas_create_handle"),
    "hipblaslt": ("libhipblaslt.so.1", "hipblasLtCreate"),
}


def call_without_device(libraries, name):
    return run_there(libraries, TREE / "tests" / "call_library", *WITHOUT_DEVICE[name])


class Ladder(unittest.TestCase):
    """Asks library probes, each in a process of its own, as the host does."""
    libraries = None
    answers = {}

    def ask(self, probe, *options, **variables):
        """An answer costs a second of compiling and more: the same question is asked once."""
        question = (self.libraries, probe, options, tuple(sorted(variables.items())))
        if question not in self.answers:
            self.answers[question] = self.answer(probe, *options, **variables)
        return self.answers[question]

    def answer(self, probe, *options, **variables):
        done = run_there(self.libraries, PROGRAM, *options, probe, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def compile(self, source, architecture, **variables):
        done = run_there(self.libraries, PROGRAM, "--source", source, "--architecture",
                         architecture, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)
