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


class ReproducerTest(support.EndToEndTest):
    def programs(self, *arguments):
        listed = self.assay("list", "--json")
        for line in listed.stdout.splitlines():
            record = json.loads(line)
            if record["record"] == "check":
                shown = self.assay("show", record["check"], "--python", "--device", "cpu",
                                   *arguments)
                self.assertEqual((shown.status, shown.stderr), (0, ""), shown)
                yield record["check"], shown.stdout

    def run_program(self, check, text):
        file = self.folder / f"{check.replace('/', '_')}.py"
        file.write_text(text, encoding="utf-8")
        return subprocess.run([PYTHON, file], cwd=self.folder, capture_output=True, text=True,
                              timeout=support.PATIENCE, check=False)

    def test_every_check_as_a_python_program(self):
        count = 0
        for check, text in self.programs():
            count += 1
            with self.subTest(check):
                done = self.run_program(check, text)
                self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(count, 55)


if __name__ == "__main__":
    if REASON:
        print(f"skipped: {REASON}")
        sys.exit(SKIPPED)
    support.main()
