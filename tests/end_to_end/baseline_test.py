# SPDX-License-Identifier: Apache-2.0
"""assay run --save and --against, assay baseline and assay history: runs that are kept."""
import json
import os
import re
import subprocess
import unittest

import slow_pack
import support


class KeptRunsTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "runs.sqlite"

    def kept(self, *arguments, **more):
        return self.assay(*arguments, "--store", self.store, **more)

    def assert_refused(self, run, status, words):
        self.assertEqual((run.status, run.stdout), (status, ""), run)
        self.assert_one_line(run, words)


class WrongUsage(KeptRunsTest):
    def test_what_is_missing_is_said(self):
        (self.folder / "text").write_text("hello, this is no store\n" * 100, encoding="utf-8")
        for arguments, words in [
                (["baseline"], "needs one of list, show, remove, export, import"),
                (["baseline", "lst"], "did you mean 'list'?"),
                (["baseline", "show"], "takes a NAME, and got 0 words"),
                (["baseline", "export", "a"], "takes a NAME and a FILE"),
                (["baseline", "show", "a", "--json"], "--json is of assay baseline list"),
                (["baseline", "list"], "no run was kept yet"),
                (["history"], "no run was kept yet"),
                (["compare", "baseline:a", "text"], "no run was kept yet"),
                (["run", "--against", "a"], "no run was kept yet"),
                (["run", "--save", "a b"], "'a b' is no name for a run"),
                (["run", "--save", "a", "--store", "text"], "no store of assay"),
                (["baseline", "import", "text", "a"], "no result file")]:
            with self.subTest(words):
                if "--store" in arguments:
                    run = self.assay(*arguments)
                else:
                    run = self.kept(*arguments)
                self.assert_refused(run, 2, words)

    def test_the_store_is_the_users_unless_it_is_named(self):
        run = self.assay("baseline", "list", env={"XDG_DATA_HOME": self.home / "data"})
        self.assertIn(str(self.home / "data" / "assay" / "runs.sqlite"), run.stderr)
        run = self.assay("baseline", "list", env={"XDG_DATA_HOME": None, "HOME": ""})
        self.assert_refused(run, 2, "name a file with --store")

    @unittest.skipUnless(hasattr(os, "geteuid"), "permissions as POSIX has them")
    def test_a_read_only_folder_ends_before_anything_runs(self):
        place = self.folder / "locked"
        place.mkdir()
        place.chmod(0o555)
        # Permissions do not bind root.
        user = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
        self.home.parent.chmod(0o777)
        try:
            done = subprocess.run([support.ASSAY, "run", "--save", "a", "--store",
                                   str(place / "runs.sqlite")], cwd="/", capture_output=True,
                                  text=True, check=False, timeout=support.PATIENCE,
                                  env=support.clean_environment(self.home), **user)
        except PermissionError:
            self.skipTest("the built program is not readable for another user")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn("mend its and its folder's permissions", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


@support.needs_torch
class OnTheSimulatedDevice(support.SharedCeilings, KeptRunsTest):
    CHECKS = ["activation/gelu", "activation/relu"]

    def run_kept(self, *arguments, switches=None):
        return self.kept(*self.run_arguments(*arguments, torch=support.SIMULATED, evidence=True,
                                             enable=self.CHECKS),
                         env={"SIMULATED_ROCM": switches})

    def test_a_run_is_kept_compared_and_looked_after(self):
        first = self.run_kept("--save", "before")
        self.assertEqual(first.status, 0, first)
        self.assertRegex(first.stdout, r"\nKept as before@1, kept 20\S+Z\n$")

        same = self.run_kept("--against", "before", "--save", "before")
        self.assertEqual(same.status, 0, same)
        self.assertIn("Against before@1, kept ", same.stdout)
        self.assertIn("Environment: nothing changed", same.stdout)
        self.assertIn("Kept as before@2", same.stdout)

        broken = self.run_kept("--against", "before@1", "--save", "after",
                               switches="cpu_fallback=aten::gelu")
        self.assertEqual(broken.status, 5, broken)
        self.assertIn("Newly failing (1)", broken.stdout)
        self.assertEqual(self.run_kept("--against", "before", "--fail-on", "none",
                                       switches="cpu_fallback=aten::gelu").status, 1,
                         "the run's own status")

        runs = json.loads(self.kept("baseline", "list", "--json").stdout)["runs"]
        self.assertEqual([(run["name"], run["number"]) for run in runs],
                         [("before", 1), ("before", 2), ("after", 1)])
        self.assertIn("before@2, kept ", self.kept("baseline", "show", "before").stdout)

        compared = self.kept("compare", "baseline:before", "baseline:after", "--markdown")
        self.assertEqual(compared.status, 5, compared)
        self.assertIn("**Newly failing** (1)", compared.stdout)
        junit = self.kept("compare", "baseline:before", "baseline:after", "--junit").stdout
        self.assertIn('<failure message="newly failing: ok -&gt; fail, no_fallback', junit)

        self.assertEqual(self.kept("baseline", "export", "before@1", "out.jsonl").status, 0)
        self.assert_refused(self.kept("baseline", "export", "before@1", "out.jsonl"), 2,
                            "is there already")
        text = (self.folder / "out.jsonl").read_text(encoding="utf-8")
        self.assertEqual(text, self.kept("baseline", "export", "before@1", "-").stdout)
        self.assertIn("Kept as again@1", self.kept("baseline", "import", "out.jsonl", "again").stdout)
        same = self.kept("compare", "out.jsonl", "baseline:again")
        self.assertIn("Environment: nothing changed", same.stdout)

        history = self.kept("history", "activation/gelu", env={"NO_COLOR": "1"})
        self.assertEqual(history.status, 0, history)
        self.assertNotIn("\x1b", history.stdout)
        self.assertRegex(history.stdout, r"activation/gelu\[float32\] on cuda:0: ")
        lines = self.kept("history", "activation/gelu", "--csv").stdout.splitlines()
        self.assertEqual(len(lines), 1 + 4)

        removed = self.kept("baseline", "remove", "before", "again@1")
        self.assertEqual(len(re.findall("^Removed ", removed.stdout, re.M)), 3)
        self.assert_refused(self.kept("baseline", "show", "before"), 2, "no run is kept as 'before'")

    def test_a_run_that_was_not_whole_is_not_kept(self):
        (self.folder / "cut.jsonl").write_text(
            '{"record":"run","schema_version":1,"started":"2026-11-30T00:00:00Z"}\n',
            encoding="utf-8")
        self.assert_refused(self.kept("baseline", "import", "cut.jsonl", "a"), 2,
                            "only a whole run is kept")
        broken = self.folder / "torch"
        (broken / "lib").mkdir(parents=True)
        for name in ("libc10.so", "libtorch_cpu.so"):
            (broken / "lib" / name).touch()
        (broken / "version.py").write_text("__version__ = '2.11.0'\n", encoding="utf-8")
        run = self.kept("run", "--torch", broken, "--save", "a")
        self.assertEqual(run.status, 3, run)
        self.assertIn("Not kept: the run did not come to its end", run.stdout)


@support.needs_torch
class SlowerTest(support.SharedCeilings, KeptRunsTest):
    """A check that does half as much again is slower each time it is measured again."""

    def run_kept(self, *arguments, calls):
        packs = self.folder / "packs"
        slow_pack.write(packs, calls)
        return self.kept(*self.run_arguments("--plugin-dir", packs, "--profile", "measure",
                                             "--measure-limit", "1", *arguments, evidence=True,
                                             enable=["slow"]),
                         env={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

    def test_it_is_measured_again_and_named(self):
        first = self.run_kept("--save", "before", calls=8)
        self.assertEqual(first.status, 0, first)
        run = self.run_kept("--against", "before", calls=12)
        self.assertEqual(run.status, 5, run)
        self.assertIn("measured again, 2 times", run.stdout)
        self.assertRegex(run.stdout, r"Slower \(1\)\n  slow/tanh\[float32\] on cpu: ")


if __name__ == "__main__":
    support.main()
