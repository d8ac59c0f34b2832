# SPDX-License-Identifier: Apache-2.0
"""Result files that were cut off, damaged, or made to do harm: `assay compare` and `assay report` say
so in one line, in bounded memory."""
import json
import os
import pathlib
import threading

import support

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
GIGABYTE = 1 << 30
MEMORY = 500  # MB of address space, program and libraries included


class Hostile(support.EndToEndTest):
    def written(self, content):
        file = self.folder / "run.jsonl"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    def each_way(self, file):
        """Of both commands that read it, in bounded memory."""
        for words in [["compare", file, CORPUS / "quick.jsonl"], ["report", file],
                      ["report", file, "--json"], ["report", file, "--csv"]]:
            with self.subTest(" ".join(map(str, words))):
                yield self.assay(*words, memory_mb=MEMORY)

    def assert_refused(self, file, words):
        for run in self.each_way(file):
            self.assertEqual((run.status, run.stdout), (2, ""), run)
            self.assert_one_line(run, words)
            self.assertLess(len(run.stderr), 400)

    def with_line(self, line):
        first, *rest = (CORPUS / "measured.jsonl").read_bytes().splitlines(keepends=True)
        return b"".join([first, line, b"\n", *rest])


class Refused(Hostile):
    def test_schema_versions(self):
        first, rest = (CORPUS / "measured.jsonl").read_text(encoding="utf-8").split("\n", 1)
        for version, words in [(0, "schema version 0, which no assay writes"),
                               ("1", "schema version \"1\", which no assay writes"),
                               (1.5, "schema version 1.5, which no assay writes"),
                               (2, "this assay reads up to 1; use a newer assay")]:
            record = json.dumps({**json.loads(first), "schema_version": version})
            self.assert_refused(self.written(record + "\n" + rest), words)

    def test_a_gigabyte_in_one_line(self):
        file = self.written(self.with_line(b"{}"))
        for begin in [b"", file.read_bytes()]:
            file.write_bytes(begin)
            os.truncate(file, GIGABYTE)  # zeros that take no room
            self.assert_refused(file, "is longer than 16 MiB; it is no result file")

    def test_a_gigabyte_of_blank_lines(self):
        file = self.folder / "pipe.jsonl"
        begin = (CORPUS / "measured.jsonl").read_bytes()
        for words in [["compare", file, file], ["report", file]]:
            with self.subTest(words[0]):
                os.mkfifo(file)
                written = []
                writer = threading.Thread(target=self.pour, args=(file, begin, written))
                writer.start()
                run = self.assay(*words, memory_mb=MEMORY)
                writer.join()
                file.unlink()
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assert_one_line(run, "has more than 2000000 lines or 512 MiB")
                self.assertLess(sum(written), GIGABYTE // 100)

    @staticmethod
    def pour(file, begin, written):
        blank = b"\n" * (1 << 16)
        try:
            with open(file, "wb", buffering=0) as out:
                out.write(begin)
                while sum(written) < GIGABYTE:
                    written.append(out.write(blank))
        except BrokenPipeError:
            pass


class ReadInPart(Hostile):
    def test_damage_is_said_and_what_stands_before_it_is_read(self):
        for line in [b"[" * 1_000_000, b"{\"record\":1e999}", b"{\"x\":1" + b"0" * 400 + b"}",
                     b"{\"record\":\"\xff\"}", b"{\"x\":" * 5000, b"nonsense"]:
            for run in self.each_way(self.written(self.with_line(line))):
                said = " ".join((run.stdout + run.stderr).split())  # it may be broken into lines
                self.assertIn("line 2 is damaged", said)
                self.assertIn("read up to line 1", said)
                self.assertIn(run.status, (0, 5), run)  # 5: the checks are gone

    def test_a_file_that_is_cut_off(self):
        for run in self.each_way(CORPUS / "cut_off.jsonl"):
            self.assertIn("the last, is cut off: read up to line", run.stdout + run.stderr)
            self.assertIn(run.status, (0, 5), run)

    def test_what_is_unknown_is_kept_and_changes_nothing(self):
        file = CORPUS / "crash_and_unknown.jsonl"
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        self.assertTrue([record for record in records if record["record"] not in
                         {"run", "plugin", "engine", "schedule", "ceilings", "starting", "result",
                          "evidence", "summary"}])
        run = self.assay("report", file, "--json")
        self.assertEqual([json.loads(line) for line in run.stdout.splitlines()], records, run)
        known = [record for record in records if record["record"] != "from_a_later_version"]
        known[0].pop("later_member")
        plain = self.written("".join(json.dumps(record) + "\n" for record in known))
        for sides in [(plain, file), (file, plain)]:
            whole = json.loads(self.assay("compare", *sides, "--json").stdout)
            self.assertEqual((whole["regression"], whole["remarks"], whole["environment"],
                              whole["checks_in_both"]), (False, [], [], 1), whole)


if __name__ == "__main__":
    support.main()
