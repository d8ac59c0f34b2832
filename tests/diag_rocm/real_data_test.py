#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library probes on AMD's rocBLAS, hipBLASLt and MIOpen, with targets they have and lack; and
what these libraries do where there is no GPU."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from real_rocm import (PACKAGES, PATIENCE, PROGRAM, call_without_device, environment,
                       fetch_with_data, run_there)

LIBRARIES = fetch_with_data()
TREE_ROOT = PACKAGES / "hip7data"


@contextlib.contextmanager
def torch_made_of(library):
    """A machine whose LibTorch's HIP library is another one of that tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "usr").symlink_to(TREE_ROOT / "usr")
        (root / "py/torch/lib").mkdir(parents=True)
        (root / "py/torch/lib/libtorch_hip.so").symlink_to((LIBRARIES / library).resolve())
        yield root


def ask(probe, architecture, root=TREE_ROOT, torch=None, there=False):
    command = [PROGRAM, "--root", root, "--architecture", architecture, probe]
    if torch:
        command[1:1] = ["--torch", torch]
    if there:
        done = run_there(LIBRARIES, *command)
    else:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env=environment())
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Files(unittest.TestCase):
    def test_rocblas(self):
        covered = ask("rocm.rocblas_data", "gfx1100")
        self.assertEqual(covered["state"], "yes", covered)
        self.assertEqual(covered["findings"], [])
        for name in ("gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1201"):
            self.assertIn(name, covered["values"]["targets"].split(", "))
        missing = ask("rocm.rocblas_data", "gfx1032")
        self.assertEqual(missing["state"], "no", missing)
        self.assertEqual(missing["findings"], ["ROCM-ROCBLAS-NO-TARGET"])

    def test_rocblas_fallbacks(self):
        answer = ask("rocm.rocblas_data", "gfx1010")
        self.assertEqual(answer["state"], "yes", answer)
        self.assertEqual(answer["findings"], ["ROCM-ROCBLAS-FALLBACK-ONLY"])
        self.assertEqual(ask("rocm.rocblas_data", "gfx90a:sramecc+:xnack-")["findings"], [])

    def test_hipblaslt(self):
        covered = ask("rocm.hipblaslt_data", "gfx1100")
        self.assertEqual(covered["state"], "yes", covered)
        missing = ask("rocm.hipblaslt_data", "gfx1032")
        self.assertEqual(missing["state"], "no", missing)
        self.assertEqual(missing["findings"], [], "RDNA2 never goes there")
        self.assertEqual(ask("rocm.hipblaslt_data", "gfx942")["findings"],
                         ["ROCM-HIPBLASLT-NO-TARGET"])

    def test_miopen(self):
        covered = ask("rocm.miopen_data", "gfx942")
        self.assertEqual(covered["state"], "yes", covered)
        self.assertEqual(covered["values"]["folder"], "/usr/share/miopen/db")
        missing = ask("rocm.miopen_data", "gfx1032")
        self.assertEqual(missing["state"], "no", missing)

    def test_code_in_a_compressed_fat_binary(self):
        """librocblas has the same form as libtorch_hip, and compressed bundles."""
        with torch_made_of("librocblas.so.5") as root:
            covered = ask("rocm.torch_targets", "gfx1030", root, "/py/torch", there=True)
            missing = ask("rocm.torch_targets", "gfx1032", root, "/py/torch", there=True)
        self.assertEqual(covered["state"], "yes", covered)
        self.assertIn("gfx942", covered["values"]["targets"].split(", "))
        self.assertEqual(missing["state"], "no", missing)
        self.assertEqual(missing["findings"], ["ROCM-NO-CODE-FOR-GPU"])

    def test_a_library_without_gpu_code(self):
        with torch_made_of("libMIOpen.so.1") as root:
            answer = ask("rocm.torch_targets", "gfx1032", root, "/py/torch")
        self.assertEqual(answer["state"], "unknown", answer)

    def test_what_loads(self):
        with torch_made_of("libMIOpen.so.1") as root:
            self.assertEqual(ask("rocm.libraries", "gfx1032", root, "/py/torch")["state"], "yes")
            self.assertEqual(ask("rocm.duplicates", "gfx1032", root, "/py/torch")["state"], "yes")
            (root / "usr").unlink()
            answer = ask("rocm.libraries", "gfx1032", root, "/py/torch")
        self.assertEqual(answer["state"], "no", answer)
        self.assertEqual(answer["findings"], ["ROCM-LIBRARY-MISSING"])
        self.assertIn("/py/torch/lib/libtorch_hip.so needs libhiprtc.so.7", answer["evidence"])


@unittest.skipIf(os.path.exists("/dev/kfd"), "there may be a GPU here")
class NoDevice(unittest.TestCase):
    def call(self, name):
        done = call_without_device(LIBRARIES, name)
        return done.returncode, done.stdout + done.stderr

    def test_hip_and_hsa(self):
        self.assertEqual(self.call("hip"), (0, "returned 100\n"))
        self.assertEqual(self.call("hsa"), (0, "returned 4104\n"))

    def test_miopen(self):
        status, text = self.call("miopen")
        self.assertEqual(status, 0)
        self.assertIn("No device: no ROCm-capable device is detected", text)
        self.assertIn("returned 7", text)

    def test_rocblas_aborts(self):
        self.assertEqual(self.call("rocblas_handle"), (0, "returned 6\n"))
        status, text = self.call("rocblas")
        self.assertEqual(status, -signal.SIGABRT)
        self.assertIn("rocBLAS error: Could not initialize Tensile host: No devices found", text)

    def test_hipblaslt_ends_the_process(self):
        status, text = self.call("hipblaslt")
        self.assertEqual(status, 1)
        self.assertIn("Hip error: 'no ROCm-capable device is detected'(100)", text)
        self.assertNotIn("returned", text)


if __name__ == "__main__":
    unittest.main()
