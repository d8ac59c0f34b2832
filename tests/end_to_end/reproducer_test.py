#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python programs of `assay show --python`, run by a Python that has torch.

    ASSAY_TEST_TREE=build ASSAY_TEST_PYTHON=/venv/bin/python tests/end_to_end/reproducer_test.py

Without a Python that can import torch (ASSAY_TEST_PYTHON, else as support.python_with_torch finds it),
the exit status is 77: skipped."""
import json
import subprocess
import sys

import support

PYTHON, REASON = support.python_with_torch()
SKIPPED = 77


# To import torch takes seconds: one Python imports it once for all the programs, each of which runs as
# it would by itself, in a namespace of its own.
RUN_EACH = """
import runpy, sys, traceback
import torch
for file in sys.argv[1:]:
    try:
        runpy.run_path(file, run_name="__main__")
        print("ran", file, flush=True)
    except BaseException:
        print("failed", file, flush=True)
        print(file, traceback.format_exc(), file=sys.stderr, flush=True)
"""


class ReproducerTest(support.EndToEndTest):
    def programs(self):
        """{check: the file of its program}."""
        files = {}
        listed = self.assay("list", "--json")
        for line in listed.stdout.splitlines():
            record = json.loads(line)
            if record["record"] != "check":
                continue
            check = record["check"]
            shown = self.assay("show", check, "--python", "--device", "cpu")
            self.assertEqual((shown.status, shown.stderr), (0, ""), shown)
            files[check] = self.folder / f"{check.replace('/', '_')}.py"
            files[check].write_text(shown.stdout, encoding="utf-8")
        return files

    def test_every_check_as_a_python_program(self):
        files = self.programs()
        self.assertEqual(len(files), 55)
        done = subprocess.run([PYTHON, "-c", RUN_EACH, *files.values()], cwd=self.folder,
                              capture_output=True, text=True, timeout=support.PATIENCE, check=False)
        lines = done.stdout.splitlines()
        for check, file in files.items():
            with self.subTest(check):
                self.assertIn(f"ran {file}", lines, done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if REASON:
        print(f"skipped: {REASON}")
        sys.exit(SKIPPED)
    support.main()
