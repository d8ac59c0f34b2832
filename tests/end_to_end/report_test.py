# SPDX-License-Identifier: Apache-2.0
"""assay report: a result file shown again, in each form, and what is no result file."""
import csv
import io
import json
import xml.etree.ElementTree as xml

import support


class WrongUsage(support.EndToEndTest):
    def test_what_is_missing_is_said(self):
        (self.folder / "text").write_text("hello\n", encoding="utf-8")
        for arguments, words in [([], "takes one result file"), (["a", "b"], "and got 2"),
                                 (["none"], "there is no such file"),
                                 (["text"], "is no result file"),
                                 (["text", "--csv", "--junit"], "a report has one form")]:
            with self.subTest(words):
                run = self.assay("report", *arguments)
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assert_one_line(run, words)


@support.needs_torch
class ARunAgain(support.EndToEndTest):
    def test_each_form(self):
        run = self.run_checks("--full-environment", device="cpu", planted=True,
                              enable=["planted/fine", "planted/throws"])
        file = self.folder / "run1.jsonl"
        again = self.assay("report", file)
        self.assertEqual(again.status, 0, again)
        self.assertEqual(again.stdout.splitlines()[-1], run.summary["text"])
        self.assertEqual(again.stdout, run.stdout)

        records = [json.loads(line) for line in
                   self.assay("report", file, "--json").stdout.splitlines()]
        self.assertEqual(records, run.records)
        rows = list(csv.DictReader(io.StringIO(self.assay("report", file, "--csv").stdout)))
        self.assertEqual({row["id"]: row["status"] for row in rows},
                         {"planted/fine[float32]": "ok", "planted/throws[float32]": "error"})
        suites = xml.fromstring(self.assay("report", file, "--junit").stdout)
        self.assertEqual(suites.get("tests"), "2")

        page = self.assay("report", file, "--markdown",
                          env={"USER": "alicia", "HOME": str(self.folder)}).stdout
        self.assertIn("#### planted/throws[float32] on cpu: error", page)
        self.assertIn("assay run --device cpu --enable 'planted/throws[float32]'", page)
        self.assertNotIn(str(self.folder), page)

        text = file.read_text(encoding="utf-8")
        file.write_text(text[:len(text) - 30], encoding="utf-8")
        cut = self.assay("report", file)
        self.assertEqual(cut.status, 0, cut)
        self.assertIn("is cut off: read up to line", cut.stderr)
        self.assertIn("1 errors", cut.stdout.splitlines()[-1])


if __name__ == "__main__":
    support.main()
