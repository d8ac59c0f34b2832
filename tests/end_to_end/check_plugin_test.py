#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assay check-plugin: every kind of finding by a planted fault, and none above a note for what assay ships.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/check_plugin_test.py
"""
import json
import pathlib
import re
import shutil

import support

PLANTED = support.TREE / "tests" / "planted_conformance"
PLUGINS = support.TREE / "lib" / "assay" / "plugins"
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "checking-a-plugin.md"


class CheckPluginTest(support.SharedCeilings, support.EndToEndTest):
    fired = set()

    def check(self, *arguments, torch=None, **more):
        """What --json says: the object, with its findings as (file's stem, severity, kind, subject)."""
        options = ["--torch", torch] if torch else ["--torch", self.no_torch()]
        run = self.assay("check-plugin", "--json", *options, *arguments, **more)
        self.assertNotIn("internal error", run.stderr)
        self.assertTrue(run.stdout.startswith("{"), run)
        said = json.loads(run.stdout)
        self.assertEqual(run.status, said["exit_status"], run)
        said["run"] = run
        said["found"] = [(pathlib.Path(file["file"]).name.split(".")[0], one["severity"],
                          one["kind"], one["subject"], one["what"])
                         for file in said["files"] for one in file["findings"]]
        CheckPluginTest.fired.update(one[2] for one in said["found"])
        for file in said["files"]:
            for one in file["findings"]:
                for part in ("what", "why", "advice"):
                    self.assertTrue(one[part], one)
                    self.assertNotIn("\n", one[part])
        return said

    def no_torch(self):
        """A LibTorch for which there is no engine."""
        folder = self.folder / "no-torch"
        (folder / "lib").mkdir(parents=True, exist_ok=True)
        for name in ("libc10.so", "libtorch_cpu.so", "libtorch.so"):
            (folder / "lib" / name).touch()
        (folder / "version.py").write_text("__version__ = '1.0.0'\n", encoding="utf-8")
        return folder

    def of(self, said, kind, subject=None):
        return [one for one in said["found"]
                if one[2] == kind and (subject is None or one[3].split("[")[0] == subject)]

    def assert_found(self, said, kind, severity, subject="", *parts):
        found = self.of(said, kind, subject)
        # A ceiling that was measured beside other tests may be low: one more line of that kind.
        found = [one for one in found if "this CPU reaches" not in one[4]] or found[:1]
        self.assertEqual(len(found), 1, f"{kind} of '{subject}'\n{said['run']}")
        self.assertEqual(found[0][1], severity, found)
        for part in parts:
            self.assertIn(part, found[0][4])

    @support.needs_torch
    def test_checks_with_one_fault_each(self):
        said = self.check(PLANTED / "checks" / "faulty_checks.assay.so", torch=support.TORCH)
        self.assertEqual(said["exit_status"], 1)
        expected = [
            ("bytes", "warning", "bytes_too_high"),
            ("bytes", "warning", "bytes_too_low"),
            ("flops", "warning", "flops_too_high"),
            ("flops", "warning", "flops_too_low"),
            ("no-flops", "note", "flops_unstated"),
            ("flops", "warning", "flops_of_no_matrix"),
            ("flops", "warning", "flops_over_the_ceiling"),
            ("wrong-result", "error", "wrong_reference"),
            ("not-compared", "warning", "reference_of_two_outputs"),
            ("varies", "warning", "random"),
            ("operator-unknown", "warning", "misspelt_operator"),
            ("check-fails", "error", "misspelt_argument"),
            ("check-skipped", "note", "of_another_torch"),
            ("prints", "warning", "prints"),
            ("thread-left", "warning", "leaves_thread"),
            ("large-fails", "error", "large_that_does_not_fit"),
            ("large-size", "warning", "large_that_is_small"),
            ("large-size", "warning", "large_that_is_huge"),
            ("path-never", "warning", "path_never_closed"),
            ("path-never", "warning", "path_misspelt"),
            ("path-never", "warning", "path_without_namespace"),
            ("path-never", "note", "path_of_another_torch"),
            ("path-never", "warning", "path_taken_before"),
        ]
        for kind, severity, name in expected:
            with self.subTest(name):
                self.assert_found(said, kind, severity, f"faulty/{name}")
        # One fault is one finding: nothing is said of what is fine.
        named = {f"faulty/{name}" for kind, severity, name in expected}
        extra = [one for one in said["found"]
                 if one[3] and one[3].split("[")[0].split(" ")[0] not in named]
        self.assertEqual(extra, [])
        self.assertEqual(len(self.of(said, "no-large")), 1)
        self.assert_found(said, "large-untried", "note", "", "faulty/large_that_cannot_be_tried")
        self.assertEqual(len(self.of(said, "no-cost")), 1)
        # A finding that holds for several dtypes is one line.
        self.assertIn("float32", self.of(said, "wrong-result", "faulty/wrong_reference")[0][3])
        self.assertIn("float64", self.of(said, "wrong-result", "faulty/wrong_reference")[0][3])

    def test_registration(self):
        said = self.check(PLANTED / "registration" / "faulty_registration.assay.so")
        self.assert_found(said, "not-repeatable", "error")
        self.assert_found(said, "prints", "warning", "", "planted: opened")
        self.assert_found(said, "thread-left", "error")
        self.assertEqual([one[4] for one in self.of(said, "stamp")],
                         ["its stamp has no version", "its stamp has no vendor"])
        self.assert_found(said, "undocumented", "warning", "faulty_registration")

    def test_file(self):
        said = self.check(PLANTED / "binary" / "faulty_binary.assay.so")
        self.assert_found(said, "links-torch", "error", "", "libtorch_planted.so")
        self.assert_found(said, "needs-library", "note", "", "libhelper_planted.so")
        self.assert_found(said, "exports", "warning", "", "planted_export")
        self.assert_found(said, "executable-stack", "warning")
        self.assert_found(said, "library-path", "warning", "", "relative/libraries")
        self.assertEqual(len(said["found"]), 5, said["run"])

    def test_probes_classifiers_and_rules(self):
        said = self.check(PLANTED / "diagnostic", "--probe-timeout", "1")
        self.assert_found(said, "probe-fails", "error", "faulty.hangs", "within 1 s")
        self.assertEqual([one[1] for one in self.of(said, "probe-words", "faulty.perhaps")],
                         ["error", "error"])
        self.assert_found(said, "probe-varies", "warning", "faulty.varies")
        self.assert_found(said, "undocumented", "warning", "faulty.varies")
        self.assert_found(said, "unknown-code", "warning", "faulty.finds_unknown", "NO-SUCH-CODE")
        self.assert_found(said, "prints", "warning", "faulty.finds_unknown", "planted: a probe")
        self.assert_found(said, "classifier-guesses", "error", "faulty.guesses")
        self.assert_found(said, "classifier-fails", "error", "faulty.aborts", "SIGABRT")
        self.assert_found(said, "classifier-words", "warning", "faulty.names_unknown")
        self.assertEqual(len(self.of(said, "rule-reference")), 3, said["run"])
        self.assert_found(said, "rule-token", "warning", "FAULTY-DIAGNOSTIC #1")
        self.assertEqual(said["exit_status"], 1)

    def test_what_the_loader_refuses(self):
        said = self.check(PLANTED / "refused" / "refused.assay.toml")
        self.assert_found(said, "refused", "error", "", "line ")
        for name in ("entry_crashes", "other_major", "text/notes", "no_stamp"):
            with self.subTest(name):
                folder, _, stem = name.partition("/")
                said = self.check(support.BAD_PLUGINS / folder / f"{stem or folder}.assay.so")
                self.assert_found(said, "refused", "error")
        writable = support.BAD_PLUGINS / "world_writable" / "world_writable.assay.so"
        said = self.check(writable)
        self.assert_found(said, "refused", "error", "", "--trust-plugins")
        said = self.check(writable, "--trust-plugins")
        self.assert_found(said, "trusted", "warning")

    def test_collisions(self):
        said = self.check(support.BAD_PLUGINS / "good" / "good.assay.so",
                          "--plugin-dir", support.BAD_PLUGINS / "duplicate_check")
        self.assert_found(said, "collision", "error", "good/fine", "first")
        copy = self.folder / "good.assay.so"
        shutil.copy(support.BAD_PLUGINS / "good" / "good.assay.so", copy)
        said = self.check(copy, "--plugin-dir", support.BAD_PLUGINS / "good")
        self.assert_found(said, "id-installed", "note")
        self.assertEqual(self.of(said, "collision"), [])

    def test_not_all_examined(self):
        good = support.BAD_PLUGINS / "good" / "good.assay.so"
        run = self.assay("check-plugin", "--torch", self.no_torch(), good)
        self.assertEqual(run.status, 3, run)
        self.assertIn("The checks were not run: ", run.stdout)
        self.assertIn("not all was examined", run.stdout.splitlines()[-1])

    @support.needs_torch
    def test_a_pack_in_toml(self):
        pack = self.folder / "acme.assay.toml"
        text = """[pack]
format = 1
id = "com.acme.ops"
version = "1.0"
vendor = "Acme"
[[category]]
name = "acme"
summary = "operators of our model"
[[check]]
name = "acme/relu"
dtypes = ["float32"]
inputs = [{ shape = [64, 64] }]
calls = ['aten::relu(in0)']
cost = { elements = "COUNT*in0" }
"""
        pack.write_text(text.replace("COUNT", "2000"), encoding="utf-8")
        said = self.check(pack, torch=support.TORCH)
        self.assertEqual((said["exit_status"], said["ran"]), (0, 1), said["run"])
        self.assertEqual([one[2:4] for one in said["found"] if one[1] != "note"],
                         [("bytes", "acme/relu")])
        advice = self.assay("check-plugin", pack).stdout
        self.assertIn("give them one with 'summary'", advice)
        pack.write_text(text.replace("relu(in0)", "gelu(in0)").replace("COUNT", "2") +
                        """reference = ['aten::gelu(in0, approximat="tanh")']\n""",
                        encoding="utf-8")
        said = self.check(self.folder, torch=support.TORCH)
        self.assert_found(said, "check-fails", "error", "acme/relu",
                          "acme.assay.toml:15: reference call 0, aten::gelu has no argument")
        self.assertEqual(said["exit_status"], 1)
        pack.write_text(text.replace("relu(in0)", "relu(in0"), encoding="utf-8")
        said = self.check(pack)
        self.assert_found(said, "refused", "error", "", "acme.assay.toml:13")

    @support.needs_torch
    def test_two_files_of_one_name(self):
        said = self.check(support.BAD_PLUGINS / "duplicate_check", torch=support.TORCH)
        self.assertEqual([one[0] for one in self.of(said, "collision")], ["second"])

    def test_strict(self):
        file = PLANTED / "diagnostic" / "faulty_diagnostic.assay.toml"
        self.assertEqual(self.assay("check-plugin", file).status, 0)
        strict = self.assay("check-plugin", "--strict", file)
        self.assertEqual(strict.status, 1, strict)
        self.assertIn("warning [rule-token]", strict.stdout)

    def test_wrong_usage(self):
        for arguments, parts in (([], ["needs a plugin"]),
                                 (["nothing.assay.so"], ["there is no file"]),
                                 ([str(self.home)], ["no plugin lies in"]),
                                 ([str(self.home), "--enable", "x"], ["no option --enable"])):
            with self.subTest(arguments):
                run = self.assay("check-plugin", *arguments)
                self.assertEqual(run.status, 2, run)
                self.assert_one_line(run, *parts)

    @support.needs_torch
    def test_zz_shipped_plugins(self):
        """All that assay ships passes without a warning. In one dtype: each costs seconds."""
        said = self.check(PLUGINS, "--dtype", "float32", torch=support.TORCH,
                          timeout=3 * support.PATIENCE)
        # Ceilings that are measured beside other tests may be low.
        bad = [one for one in said["found"]
               if one[1] != "note" and "this CPU reaches" not in one[4]]
        self.assertEqual(bad, [], said["text"])
        self.assertEqual(said["exit_status"], 0)
        self.assertGreater(said["ran"], 50)

    @support.needs_torch
    def test_zzz_every_kind_is_documented_and_fires(self):
        text = DOCUMENT.read_text(encoding="utf-8").split("## Kinds of findings")[1]
        kinds = set()
        for row in re.findall(r"^\| (`[a-z`, -]+) \| (?:error|warning|note)", text, re.M):
            kinds.update(re.findall(r"`([a-z-]+)`", row))
        self.assertGreater(len(kinds), 35)
        self.assertEqual(kinds - {"no-summary"}, CheckPluginTest.fired - {"no-summary"})


if __name__ == "__main__":
    support.main()
