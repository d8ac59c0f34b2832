# SPDX-License-Identifier: Apache-2.0
"""assay explain and assay doctor, as far as they need no GPU."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

import support
from support import TREE

ASSAY = TREE / "bin" / "assay"
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def assay(*arguments, log=b""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    return subprocess.run([ASSAY, *arguments], input=log, capture_output=True, timeout=120,
                          env=environment)


class ExplainTest(unittest.TestCase):
    def test_the_document_is_the_catalogue(self):
        """After a change: assay explain --catalogue > docs/diagnoses.md."""
        run = assay("explain", "--catalogue")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertEqual(run.stdout.decode(), (DOCS / "diagnoses.md").read_text(encoding="utf-8"))

    def test_headers_that_hiprtc_does_not_find(self):
        log = (b"/tmp/comgr-1/include/miopen_type_traits.hpp:9:10: fatal error: 'type_traits' file"
               b" not found\n1 error generated when compiling for gfx1032.\n"
               b"RuntimeError: miopenStatusUnknownError\n")
        for text in (log, log.decode().encode("utf-16")):
            run = assay("explain", "--json", log=text)
            self.assertEqual(run.returncode, 0, run)
            best = json.loads(run.stdout)["diagnoses"][0]
            self.assertEqual((best["code"], best["confidence"]), ("ROCM-HIPRTC-HEADERS", "likely"))

    def test_arithmetic_of_a_classifier(self):
        run = assay("explain", "--json", log=b"CUDA out of memory. Tried to allocate 900.00 GiB "
                    b"(GPU 0; 8.00 GiB total capacity; 1.00 GiB already allocated; 6.00 GiB free; "
                    b"1.10 GiB reserved in total by PyTorch)\n")
        self.assertEqual(json.loads(run.stdout)["class"], "oom_absurd_request", run)

    def test_unknown_names_the_lines_that_look_like_errors(self):
        run = assay("explain", log=b"all is well\nERROR: the frobnicator is sad\n")
        self.assertEqual(run.returncode, 1, run)
        self.assertIn(b"unknown: no rule recognises", run.stdout)
        self.assertIn(b"2: ERROR: the frobnicator is sad", run.stdout)

    def test_a_broken_rule_file_costs_only_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "bad.assay.toml").write_text("[pack]\nformat = 1\nidd = 'x'\n")
            run = assay("explain", "--plugin-dir", folder, log=b"CUDA error: invalid device ordinal")
        self.assertEqual(run.returncode, 0, run)
        self.assertIn(b"bad.assay.toml is not used: line 3: [pack] has no key 'idd'; did you mean "
                      b"'id'?", run.stderr)


class CatalogueTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        run = assay("explain", "--catalogue", "--json")
        assert (run.returncode, run.stderr) == (0, b""), run
        cls.entries = json.loads(run.stdout)["diagnoses"]

    def steps(self, platform):
        for entry in self.entries:
            yield entry["code"], entry["advice"]["any"] + entry["advice"][platform]

    def test_json_has_every_entry(self):
        text = (DOCS / "diagnoses.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(entry["code"] for entry in self.entries),
                         sorted(line[4:] for line in text.splitlines() if line.startswith("### ")))

    @unittest.skipUnless(shutil.which("bash"), "there is no bash")
    def test_bash_can_read_every_command(self):
        """People paste them: a quote too many, or a backslash that quotes nothing."""
        commands = {}
        for platform in ("linux", "wsl"):
            for code, steps in self.steps(platform):
                for step in steps:
                    if step.startswith("$ "):
                        commands.setdefault(step[2:], code)
        self.assertGreater(len(commands), 100)
        wrong = []
        for command, code in commands.items():
            # What a person puts in, <PATH> or <the name of it>, is a redirection to a shell.
            read = re.sub(r"<[A-Za-z][^<>|&;]*>", "X", command)
            done = subprocess.run(["bash", "-n", "-c", read + "\n"], capture_output=True, text=True,
                                  check=False)
            if done.returncode != 0 or done.stderr:
                wrong.append(f"{code}: {command}: {done.stderr.strip()}")
            # bash reads it, and the program behind it gets a pattern that ends in a backslash.
            elif any(word.endswith("\\") for word in shlex.split(read, comments=True)):
                wrong.append(f"{code}: {command}: a word ends in a backslash")
        self.assertEqual(wrong, [])

    def test_a_command_is_a_step_of_its_own(self):
        """Behind prose it would be broken into lines, and could not be pasted."""
        wrong = [f"{code}: {step}" for platform in ("linux", "windows")
                 for code, steps in self.steps(platform) for step in steps
                 if re.search(r"\s\$ ", step)]
        self.assertEqual(wrong, [])

    def test_what_is_announced_comes(self):
        """A step that ends in a colon has another one behind it, on each platform."""
        wrong = [f"{code} on {platform}: {steps[-1]}" for platform in ("linux", "wsl", "windows")
                 for code, steps in self.steps(platform) if steps and steps[-1].endswith(":")]
        self.assertEqual(wrong, [])

    def test_wsl_has_the_steps_of_linux(self):
        for entry in self.entries:
            if entry["advice"]["linux"]:
                self.assertIn("wsl", entry["advice"], entry["code"])
        run = assay("explain", "--platform", "wsl", log=b"MIOpen(HIP): Error [SetValues] database "
                    b"disk image is malformed\n")
        self.assertEqual(run.returncode, 0, run)
        self.assertIn(b"\n        $ ", run.stdout)


class DoctorTest(unittest.TestCase):
    def test_every_probe_answers(self):
        run = assay("doctor", "--json")
        found = json.loads(run.stdout)
        self.assertIn(run.returncode, (0, 1), run)
        self.assertEqual(found["remarks"], [])
        self.assertGreater(len(found["probes"]), 30)
        for probe in found["probes"]:
            self.assertIn(probe["state"], ("yes", "no", "unknown"), probe)
            self.assertTrue(probe["fact"], probe)


if __name__ == "__main__":
    support.main()
