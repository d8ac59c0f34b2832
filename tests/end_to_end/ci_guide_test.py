# SPDX-License-Identifier: Apache-2.0
"""docs/ci.md: its YAML is valid, and its shell steps do what they say, on the simulated device."""
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as xml

import support

try:
    import yaml
except ImportError:
    yaml = None

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ci.md"


def blocks():
    """The YAML of the two examples, GitHub's first."""
    found = re.findall(r"^```yaml\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(found) == 2, len(found)
    return found


def scripts_of(block):
    """The multi-line shell scripts of a block, in order, without a YAML library."""
    lines = block.splitlines()
    found = []
    for number, line in enumerate(lines):
        begin = re.fullmatch(r"( *)(run: |- )\|", line)
        if begin:
            body = []
            for inside in lines[number + 1:]:
                if inside.strip() and len(inside) - len(inside.lstrip()) <= len(begin[1]):
                    break
                body.append(inside)
            indent = min(len(text) - len(text.lstrip()) for text in body if text.strip())
            found.append("".join(text[indent:] + "\n" for text in body))
    return found


@unittest.skipUnless(yaml, "python3-yaml is missing")
class TheYaml(unittest.TestCase):
    def test_it_says_what_the_shell_test_runs(self):
        actions, gitlab = (yaml.safe_load(block) for block in blocks())
        steps = actions["jobs"]["assay"]["steps"]
        self.assertEqual([step["run"] for step in steps if "run" in step], scripts_of(blocks()[0]))
        job = gitlab["assay"]
        self.assertEqual(job["script"] + job["after_script"], scripts_of(blocks()[1]))
        for step in steps:
            self.assertTrue(("run" in step) != ("uses" in step), step)
        self.assertEqual(job["artifacts"]["reports"]["junit"], ["run.xml", "comparison.xml"])


@support.needs_torch
class TheShell(support.SharedCeilings, support.EndToEndTest):
    """A change on a branch, run after the main branch: `fault` is what it breaks."""

    CHECKS = "activation/gelu,activation/relu"
    FAULT = "cpu_fallback=aten::gelu"

    def shell(self, script, variables):
        environment = support.clean_environment(self.home, {
            "PATH": f"{support.TREE / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "XDG_CACHE_HOME": self.cache, "ASSAY_TORCH": support.SIMULATED,
            # Times of the simulated device mean nothing.
            "ASSAY_PROFILE": "quick", "ASSAY_ENABLE": self.CHECKS, **variables})
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", script], cwd=self.folder,
                              env=environment, timeout=support.PATIENCE, text=True, check=False,
                              capture_output=True, stdin=subprocess.DEVNULL)

    def github(self, branch, fault=None):
        """A workflow's run: the status of the step that decides, and the summary's text."""
        self.clean()
        run, changed, keep = scripts_of(blocks()[0])
        summary = self.folder / "summary.md"
        variables = {"SIMULATED_ROCM": fault, "GITHUB_STEP_SUMMARY": str(summary)}
        done = self.shell(run, variables)
        self.all_well(self.shell(changed, variables), done)
        if branch == "main":
            self.all_well(self.shell(keep, variables), done)
        return done, summary.read_text(encoding="utf-8")

    def gitlab(self, branch, fault=None):
        self.clean()
        run, *after = scripts_of(blocks()[1])
        variables = {"SIMULATED_ROCM": fault, "CI_COMMIT_BRANCH": branch,
                     "CI_DEFAULT_BRANCH": "main"}
        done = self.shell(run, variables)
        for script in after:
            self.all_well(self.shell(script, variables), done)
        return done, (self.folder / "run.md").read_text(encoding="utf-8")

    def clean(self):
        """The folder as a job finds it: with what the cache brought."""
        for file in self.folder.iterdir():
            if file.name != "baseline.jsonl":
                file.unlink()

    def all_well(self, step, run):
        self.assertEqual((step.returncode, step.stderr), (0, ""),
                         f"{step.stdout}\nafter\n{run.stdout}{run.stderr}")

    def follow(self, job):
        first, page = job("main")
        self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
        self.assertIn("Summary: 2/2", page)
        self.assertFalse((self.folder / "comparison.xml").exists())
        baseline = (self.folder / "baseline.jsonl").read_bytes()

        broken, page = job("change", self.FAULT)
        self.assertEqual(broken.returncode, 5, broken.stdout + broken.stderr)
        self.assertIn("activation/gelu[float32]", page)
        failures = xml.parse(self.folder / "comparison.xml").getroot().iter("failure")
        self.assertTrue(list(failures))
        self.assertTrue(list(xml.parse(self.folder / "run.xml").getroot().iter("testcase")))
        self.assertEqual((self.folder / "baseline.jsonl").read_bytes(), baseline)

    def test_github(self):
        self.follow(self.github)
        same, page = self.github("change")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        self.assertIn("no regression", page)

    def test_gitlab(self):
        self.follow(self.gitlab)
        merged, _ = self.gitlab("main", self.FAULT)
        self.assertEqual(merged.returncode, 5, merged.stdout + merged.stderr)
        again, _ = self.gitlab("change", self.FAULT)
        # It fails as the accepted one does.
        self.assertEqual(again.returncode, 1, again.stdout + again.stderr)


if __name__ == "__main__":
    support.main()
