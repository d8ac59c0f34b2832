# SPDX-License-Identifier: Apache-2.0
"""assay run --torch OLD --torch NEW: two LibTorch take turns and are compared."""
import pathlib
import signal
import subprocess
import time

import support


@support.needs_torch
class TorchPairTest(support.SharedCeilings, support.EndToEndTest):
    def setUp(self):
        super().setUp()
        real = pathlib.Path(support.TORCH)
        self.other = self.folder / "other"
        (self.other / "lib").mkdir(parents=True)
        for library in (real / "lib").iterdir():
            (self.other / "lib" / library.name).symlink_to(library)
        text = (real / "version.py").read_text(encoding="utf-8")
        (self.other / "version.py").write_text(text.replace("2.11.0", "2.11.9"), encoding="utf-8")

    def both(self, *arguments, **more):
        return self.assay("run", "--torch", support.TORCH, "--torch", self.other, "--device", "cpu",
                          "--profile", "quick", *arguments, **more)

    def records(self, name):
        return support.read_records((self.folder / name).read_text(encoding="utf-8"))

    def test_wrong_usage(self):
        for arguments, words in [
                (["--save", "a"], "--save is of one run, and two --torch make two"),
                (["--json", "-"], "name a file: it becomes two"),
                (["--junit", "j.xml"], "--junit is of one run"),
                (["--torch", self.other], "at most two LibTorch are compared")]:
            with self.subTest(words):
                run = self.both(*arguments)
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assert_one_line(run, words)
        run = self.assay("list", "--torch", support.TORCH, "--torch", self.other)
        self.assert_one_line(run, "only assay run compares two LibTorch")
        run = self.assay("run", "--torch", support.TORCH, "--torch", support.TORCH)
        self.assert_one_line(run, "name the old and the new LibTorch")

    def test_equal_ones_differ_in_nothing_but_their_name(self):
        run = self.both("--enable", "activation", "--json", "run.jsonl", "--full-environment")
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout.count("Summary: 6/6 returned cpu tensors"), 2, run)
        self.assertRegex(run.stdout, r"\n  LibTorch: 2\.11\.0\S* -> 2\.11\.9\S*\n")
        self.assertRegex(run.stdout.splitlines()[-1], r"^Compare: no regression \| 6 checks in both")
        for name, torch in (("run-old.jsonl", support.TORCH), ("run-new.jsonl", self.other)):
            first, *_, last = self.records(name)
            self.assertEqual((first["torch_dir"], last["record"]), (str(torch), "summary"))
            self.assertEqual(first["options"]["torch"]["value"], str(torch))
        again = self.assay("compare", "run-old.jsonl", "run-new.jsonl")
        self.assertIn("LibTorch: 2.11.0", again.stdout)

    def test_they_take_turns(self):
        """The first to hang stops both: the other has then run all that came before."""
        command = self.run_arguments("--json", "run.jsonl", "--torch", self.other, planted=True,
                                     enable=["elementwise", "planted/hangs"])
        command = [word for word in command if word != "--no-evidence"]
        files = [self.folder / f"run-{side}.jsonl" for side in ("old", "new")]
        with subprocess.Popen([support.ASSAY, *map(str, command)], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=support.clean_environment(self.home)) as process:
            limit = time.monotonic() + support.PATIENCE
            while not any(file.exists() and '"id":"planted/hangs' in
                          file.read_text(encoding="utf-8").partition('"record":"schedule"')[2]
                          .partition("\n")[2] for file in files):
                self.assertIsNone(process.poll(), process.stderr)
                self.assertLess(time.monotonic(), limit)
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=support.PATIENCE)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("Not compared: a run did not come to its end", stdout)
        for file in files:
            results = [r for r in self.records(file.name) if r["record"] == "result"]
            self.assertEqual([r["id"].split("/")[0] for r in results], ["elementwise"] * 9)


if __name__ == "__main__":
    support.main()
