# SPDX-License-Identifier: Apache-2.0
"""assay compare: what changed between two result files, and the exit status that says so."""
import json

import support


class CompareTest(support.EndToEndTest):
    def compare(self, *arguments, **more):
        return self.assay("compare", *arguments, **more)


class WrongUsage(CompareTest):
    def test_what_is_missing_is_said(self):
        (self.folder / "text").write_text("hello\n", encoding="utf-8")
        (self.folder / "empty").mkdir()
        for arguments, words in [
                ([], "takes two result files or folders"),
                (["text"], "got 1"),
                (["text", "none"], "no result file"),
                (["--old", "text"], "there is no --new"),
                (["--old", "text", "--new", "text", "text"], "stands beside --old"),
                (["empty", "text"], "holds no result file"),
                (["text", "text", "--fail-on", "pathh"], "did you mean 'path'?"),
                (["text", "text", "--fail-on", "slower=none"], "reads like slower=5%")]:
            with self.subTest(words):
                run = self.compare(*arguments)
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assert_one_line(run, words)


@support.needs_torch
class OnTheSimulatedDevice(support.SharedCeilings, CompareTest):
    CHECKS = ["activation/gelu", "activation/relu", "conv/conv2d"]

    def saved(self, name, switches=None):
        run = self.run_checks(torch=support.SIMULATED, evidence=True, enable=self.CHECKS,
                              env={"SIMULATED_ROCM": switches})
        file = self.folder / name
        file.write_text("".join(json.dumps(record) + "\n" for record in run.records),
                        encoding="utf-8")
        return file

    def test_a_fallback_and_a_slow_path_are_named(self):
        before = self.saved("before.jsonl")
        same = self.compare(before, before)
        self.assertEqual(same.status, 0, same)
        self.assertIn("Environment: nothing changed", same.stdout)
        self.assertIn("Compare: no regression | 3 checks in both", same.stdout)

        after = self.saved("after.jsonl", "cpu_fallback=aten::gelu")
        run = self.compare(before, after)
        self.assertEqual(run.status, 5, run)
        self.assertIn("Newly failing (1)", run.stdout)
        self.assertIn("no_fallback: aten::gelu is served by the boxed CPU", run.stdout)
        back = self.compare(after, before)
        self.assertEqual(back.status, 0, back)
        self.assertIn("Mended (1)", back.stdout)

        slow = self.saved("slow.jsonl", "slow_path=aten::conv2d")
        whole = json.loads(self.compare(before, slow, "--json").stdout)
        path, = [link for link in whole["links"] if link["link"] == "path"]
        self.assertEqual(path["id"], "conv/conv2d[float32]")
        self.assertTrue(path["before"].startswith("miopen"), path)
        self.assertTrue(path["regression"])
        self.assertTrue(whole["regression"])
        self.assertEqual(self.compare(before, slow, "--fail-on", "error,fallback").status, 0)
        self.assertEqual(self.compare(before, slow, "--fail-on", "path").status, 5)

        text = before.read_text(encoding="utf-8")
        before.write_text(text[:len(text) - 40], encoding="utf-8")
        cut = self.compare(before, slow)
        self.assertIn("is cut off: read up to line", cut.stdout)


if __name__ == "__main__":
    support.main()
