#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every plugin of tests/bad_plugins: what is said of it, and that nothing else suffers.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/loader_test.py
"""
import json
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import support
from support import BAD_PLUGINS, TREE

SDK = pathlib.Path(__file__).resolve().parents[2] / "sdk" / "include"
PACKS = TREE / "tests" / "packs"
BUILT_IN = ["activation", "attention", "conv", "diag_cuda", "diag_rocm", "diag_system",
            "diag_torch", "elementwise", "indexing", "linear", "norm", "reduction", "tensor"]

REBUILD = "rebuild it with this assay's SDK"
BUILD_AGAIN = "build it again with assay_add_plugin(), or take it away"
NO_LIBRARY = "the file is no whole shared library of this system; " + BUILD_AGAIN
NO_STAMP = "it has no assay_plugin_stamp: it is no assay plugin; " + BUILD_AGAIN
TRUST = "who could change what runs here; mend that (chmod, chown), or say --trust-plugins"
MEND = "take it away, or have its vendor mend it"

# folder/file: its one refusal; {bad} is the folder of the bad plugins, {abi} what this assay speaks.
REFUSALS = {
    "no_stamp/no_stamp": NO_STAMP,
    "wrong_magic/wrong_magic": "its stamp does not begin with ASSAYPLG: it was not made by "
                               "ASSAY_PLUGIN or for assay_stamp; " + REBUILD,
    "stamp_too_small/stamp_too_small":
        "its stamp has struct_size 16, the first ABI has 152; " + REBUILD,
    "other_major/other_major": "built for plugin ABI {other_major}, this assay speaks {abi}; use a "
                               "newer assay, or " + REBUILD,
    "newer_minor/newer_minor": "built for plugin ABI {newer_minor}, this assay speaks {abi}; use a "
                               "newer assay, or " + REBUILD,
    "unterminated_id/unterminated_id": "a text of its stamp (id, version, vendor or accelerator) "
                                       "has no closing zero; shorten it",
    "id_with_spaces/id_with_spaces":
        "its id 'Not An Id' is none: an id takes a-z, 0-9, _ . and - only",
    "unknown_accelerator/unknown_accelerator":
        "its accelerator 'abacus' is none of any, rocm, cuda",
    "no_entry/no_entry":
        "it does not export assay_plugin_entry; build it with assay_add_plugin()",
    "entry_fails/entry_fails": "planted: this plugin does not want to be loaded",
    "entry_fails_silently/entry_fails_silently":
        "its entry function returned 7 and gave no reason; ask its vendor",
    "entry_throws/entry_throws": "planted: the registration threw",
    "entry_crashes/entry_crashes":
        "while it was loaded it ended the process (SIGABRT); " + MEND,
    "registers_nothing/registers_nothing":
        "it registered no check, probe or classifier; ask its vendor",
    "same_check_twice/same_check_twice": "check 'good/fine' is registered twice",
    "upper_case_category/upper_case_category":
        "category 'Upper': a name takes a-z, 0-9 and _ only",
    "upper_case_check/upper_case_check":
        "check 'good/Fine': category and name take a-z, 0-9 and _ only",
    "duplicate_check/second":
        "check 'good/fine' is registered by {bad}/duplicate_check/first.assay.so; rename one of "
        "the two, or take one of the files away",
    "duplicate_plugin/second":
        "plugin id 'twin' is taken by {bad}/duplicate_plugin/first.assay.so; take one of the two "
        "files away, or give one another id",
    "stray/stray": NO_STAMP,
    "empty/empty": "the file is empty; " + BUILD_AGAIN,
    "text/notes": NO_LIBRARY,
    "truncated/truncated": NO_LIBRARY,
    "folder/folder": "it is a folder, and a plugin is a file; rename it, or take it away",
    "world_writable/world_writable": "the file may be written by everybody, " + TRUST,
    "writable_folder/in_writable_folder":
        "its folder {bad}/writable_folder may be written by everybody, " + TRUST,
}
# What the folders hold beside these; entry_hangs has a test of its own.
GOOD_FOLDERS = {"good", "rocm_only", "bad_operator", "bad_argument", "bad_result",
                "bad_call_order", "bad_input"}


class LoaderTest(support.EndToEndTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        version = subprocess.run([support.ASSAY, "--version"], capture_output=True, text=True,
                                 check=True).stdout
        major, minor = map(int, re.search(r"plugin ABI (\d+)\.(\d+)", version).groups())
        known = {"bad": str(BAD_PLUGINS), "abi": f"{major}.{minor}",
                 "other_major": f"{major + 1}.{minor}", "newer_minor": f"{major}.{minor + 1}"}
        cls.refusals = {name: reason.format(**known) for name, reason in REFUSALS.items()}

    def catalogue(self, *arguments, **more):
        listed = self.assay("list", "--json", *arguments, **more)
        listed.records = [json.loads(line) for line in listed.stdout.splitlines()]
        return listed

    def assert_built_in_loaded(self, run):
        loaded = [p["id"] for p in run.of_kind("plugin") if p["status"] == "loaded"]
        self.assertEqual(loaded[:len(BUILT_IN)], BUILT_IN, run)

    def assert_refused(self, run, folder, file, reason):
        record = run.plugin(f"{file}.assay.so")
        self.assertEqual((record["status"], record["reason"]), ("refused", reason))
        self.assertEqual(record["file"], f"{BAD_PLUGINS}/{folder}/{file}.assay.so")

    def compiled(self, name, text):
        """A plugin in C, made now."""
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("there is no C compiler cc")
        folder = self.folder / "compiled"
        folder.mkdir(exist_ok=True)
        source = self.folder / f"{name}.c"
        source.write_text("#include <assay/abi.h>\n"
                          "const assay_stamp assay_plugin_stamp = {.magic = ASSAY_STAMP_MAGIC,\n"
                          "  .struct_size = sizeof(assay_stamp), .abi_major = ASSAY_ABI_MAJOR,\n"
                          f"  .abi_minor = ASSAY_ABI_MINOR, .id = \"{name}\", .version = \"1\",\n"
                          "  .vendor = \"tests\", .accelerator = \"any\"};\n" + text)
        subprocess.run([compiler, "-shared", "-fPIC", "-I", SDK, source,
                        "-o", folder / f"{name}.assay.so"], check=True)
        return folder


class ListTest(LoaderTest):
    def test_every_bad_plugin_is_known_to_this_test(self):
        folders = {p.name for p in BAD_PLUGINS.iterdir() if p.is_dir() and p.name != "CMakeFiles"}
        known = {name.split("/")[0] for name in REFUSALS} | GOOD_FOLDERS | {"entry_hangs"}
        self.assertEqual(folders, known)

    def test_each_refusal_alone(self):
        for name, reason in self.refusals.items():
            folder, file = name.split("/")
            with self.subTest(name):
                records = self.catalogue("--plugin-dir", BAD_PLUGINS / folder)
                self.assertEqual(records.status, 3, records)
                self.assertEqual(records.stderr, "")
                self.assert_refused(records, folder, file, reason)
                self.assert_built_in_loaded(records)

                text = self.assay("list", "--plugin-dir", BAD_PLUGINS / folder)
                self.assertEqual(text.status, 3, text)
                self.assertEqual(text.stderr, "")
                lines = text.stdout.splitlines()
                row = lines.index(f"      {BAD_PLUGINS}/{folder}/{file}.assay.so") - 2
                self.assertEqual(lines[row].split()[-2:], ["-", "refused"])
                self.assertEqual(lines[row + 1].strip(), reason)
                self.assertEqual(text.stdout.count(reason), 1, text)
                self.assertEqual(sum(line.endswith("  loaded") for line in lines),
                                 len(BUILT_IN) + ("duplicate" in name), text)

    def test_good_plugins(self):
        for folder in GOOD_FOLDERS:
            with self.subTest(folder):
                records = self.catalogue("--plugin-dir", BAD_PLUGINS / folder)
                self.assertEqual(records.status, 0, records)
                self.assertEqual(records.plugin(f"{folder}.assay.so")["status"], "loaded")

    def test_a_stray_library_is_never_opened(self):
        # Its initialiser aborts: had it been opened, the reason would be that the process died.
        records = self.catalogue("--plugin-dir", BAD_PLUGINS / "stray")
        stray = records.plugin("libstray.so")
        self.assertEqual((stray["status"], stray["reason"]),
                         ("not_a_plugin",
                          "it has no assay_plugin_stamp: it is no assay plugin"))
        text = self.assay("list", "--plugin-dir", BAD_PLUGINS / "stray").stdout
        self.assertIn("Left alone (no plugins)\n"
                      f"  {BAD_PLUGINS}/stray/libstray.so: it has no assay_plugin_stamp: it is no "
                      "assay plugin\n", text)

    def test_trust_is_said_aloud(self):
        for folder, file, who in [
                ("world_writable", "world_writable", "the file"),
                ("writable_folder", "in_writable_folder",
                 f"its folder {BAD_PLUGINS}/writable_folder")]:
            with self.subTest(folder):
                arguments = ["--plugin-dir", BAD_PLUGINS / folder, "--trust-plugins"]
                records = self.catalogue(*arguments)
                self.assertEqual(records.status, 0, records)
                plugin = records.plugin(f"{file}.assay.so")
                self.assertEqual(plugin["status"], "loaded")
                self.assertEqual(plugin["trusted_in_spite_of"], f"{who} may be written by everybody")
                text = self.assay("list", *arguments)
                self.assertEqual(text.status, 0, text)
                self.assertIn(f"\n      loaded although {who} may be written by everybody "
                              "(--trust-plugins)\n", text.stdout)

    def test_trust_can_be_taken_back(self):
        folder = BAD_PLUGINS / "world_writable"
        trusting = {"ASSAY_TRUST_PLUGINS": "yes"}
        self.assertEqual(self.assay("list", "--plugin-dir", folder, env=trusting).status, 0)
        self.assertEqual(self.assay("list", "--plugin-dir", folder, "--trust-plugins=no",
                                    env=trusting).status, 3)

    def test_a_folder_named_twice_is_read_once(self):
        good = BAD_PLUGINS / "good"
        records = self.catalogue("--plugin-dir", good, "--plugin-dir", f"{good}/../good/")
        self.assertEqual(records.status, 0, records)
        self.assertEqual(records.plugin("good.assay.so")["status"], "loaded")

    def test_the_same_plugin_in_two_folders_names_both_files(self):
        copy = self.folder / "copy"
        copy.mkdir()
        shutil.copy(BAD_PLUGINS / "good" / "good.assay.so", copy / "again.assay.so")
        records = self.catalogue("--plugin-dir", BAD_PLUGINS / "good", "--plugin-dir", copy)
        self.assertEqual(records.status, 3, records)
        again = records.plugin("again.assay.so")
        self.assertEqual(again["file"], str(copy / "again.assay.so"))
        self.assertIn(f"is taken by {BAD_PLUGINS}/good/good.assay.so; ", again["reason"])

    def test_plugin_dir_takes_a_folder_only(self):
        file = BAD_PLUGINS / "good" / "good.assay.so"
        for command in ("list", "run"):
            run = self.assay(command, "--plugin-dir", file)
            self.assertEqual((run.status, run.stdout), (2, ""))
            self.assert_one_line(run, f"--plugin-dir: {file} is a file; name the folder that holds it")

    def test_a_dangling_link(self):
        (self.folder / "dangling.assay.so").symlink_to("nowhere")
        records = self.catalogue("--plugin-dir", self.folder)
        self.assertEqual(records.status, 3, records)
        self.assertEqual(records.plugin("dangling.assay.so")["reason"],
                         "it is not a file; mend the link, or take it away")

    def test_what_does_not_open_says_why_in_the_loaders_words(self):
        folder = self.compiled("unresolved", """
            void nowhere(void);
            int assay_plugin_entry(const assay_host* h, assay_registrar* r) {
              (void)h; (void)r; nowhere(); return 0; }\n""")
        records = self.catalogue("--plugin-dir", folder)
        self.assertEqual(records.status, 3, records)
        self.assertEqual(records.plugin("unresolved.assay.so")["reason"],
                         "it does not open: undefined symbol: nowhere")

    def test_a_reason_of_several_lines_becomes_one(self):
        folder = self.compiled("wordy", """
            int assay_plugin_entry(const assay_host* h, assay_registrar* r) {
              (void)h; r->fail(r, "first line\\nsecond \\033[31mline"); return 1; }\n""")
        text = self.assay("list", "--plugin-dir", folder)
        self.assertEqual(text.status, 3, text)
        self.assertIn("\n      first line second \\x1b[31mline\n", text.stdout)

    def test_a_plugin_that_prints_does_not_disturb(self):
        folder = self.compiled("noisy", """
            #include <stdio.h>
            int assay_plugin_entry(const assay_host* h, assay_registrar* r) {
              (void)h; printf("{\\"record\\":\\"plugins_done\\"}\\n"); fflush(stdout);
              fprintf(stderr, "noise\\n"); r->fail(r, "enough"); return 1; }\n""")
        records = self.catalogue("--plugin-dir", folder)
        self.assertEqual(records.plugin("noisy.assay.so")["reason"], "enough")
        self.assertEqual(records.stderr, "")

    def test_packs_of_other_compilers(self):
        if not PACKS.is_dir():
            self.skipTest(f"there is no {PACKS}")
        records = self.catalogue("--plugin-dir", PACKS)
        self.assertEqual(records.status, 0, records)
        text = self.assay("list", "--plugin-dir", PACKS).stdout
        if (PACKS / "test_pack_c.assay.so").is_file():
            self.assertEqual(records.plugin("test_pack_c.assay.so")["id"], "test.c_pack")
            self.assertIn("    c_pack/add  float32 float64\n", text)
        if (PACKS / "test_pack_libcxx.assay.so").is_file():
            pack = records.plugin("test_pack_libcxx.assay.so")
            self.assertEqual([p["id"] for p in pack["probes"]], ["test.libcxx.standard_library"])
            self.assertEqual([c["id"] for c in pack["classifiers"]], ["test.libcxx.own_failures"])
            self.assertIn("\n  test.libcxx.standard_library: is the pack built with libc++?\n", text)
            self.assertIn("\n  test.libcxx.own_failures: recognises failures of libcxx_pack checks\n",
                          text)


@support.needs_torch
class RunTest(LoaderTest):
    def arguments(self, *folders):
        return [word for folder in folders for word in ("--plugin-dir", BAD_PLUGINS / folder)]

    def test_all_refusals_in_one_run(self):
        # Those of duplicates have tests of their own: here good/fine is the good plugin's.
        together = {name: reason for name, reason in self.refusals.items()
                    if not name.startswith("duplicate_")}
        folders = ["good", *sorted({name.split("/")[0] for name in together})]
        junit = self.folder / "report.xml"
        run = self.run_checks(*self.arguments(*folders), "--junit", junit, device="cpu",
                              enable=["elementwise/add", "good"])
        self.assertEqual(run.status, 3, run)
        self.assert_built_in_loaded(run)
        self.assert_counts(run, refused_plugins=len(together))
        self.assertIn(f" | {len(together)} plugins refused | ", run.summary["text"])
        self.assertEqual([(r["id"], r["status"]) for r in run.results],
                         [("elementwise/add[float32]", "ok"), ("good/fine[float32]", "ok")])
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite[@name='plugins']")
        self.assertEqual(suite.get("errors"), str(len(together)))
        cases = {case.get("name"): case.find("error") for case in suite.findall("testcase")}
        for name, reason in together.items():
            with self.subTest(name):
                self.assert_refused(run, *name.split("/"), reason)
                file = f"{BAD_PLUGINS}/{name}.assay.so"
                self.assertIn(f"\nplugin {file}\n  refused: {reason}\n", run.stdout)
                self.assertEqual(run.stdout.count(f"plugin {file}\n"), 1)
                self.assertEqual(cases[file].get("message"), reason)
                self.assertEqual(cases[file].get("type"), "refused")
        self.assertEqual(run.stderr, "")

    def test_one_refusal_is_one_of_the_summary(self):
        run = self.run_checks(*self.arguments("duplicate_check"), device="cpu",
                              enable=["elementwise/add", "good"])
        self.assertEqual(run.status, 3, run)
        self.assertIn(" | 1 plugins refused | ", run.summary["text"])
        self.assert_refused(run, "duplicate_check", "second",
                            self.refusals["duplicate_check/second"])
        self.assertEqual(run.result("good/fine")["plugin"], "first")
        self.assertEqual(run.summary["on_device"], 2)

    def test_a_crash_is_the_plugins_and_all_the_rest_runs(self):
        run = self.run_checks(*self.arguments("entry_crashes"), device="cpu", enable=["tensor"])
        self.assertEqual(run.status, 3, run)
        self.assert_built_in_loaded(run)
        self.assert_refused(run, "entry_crashes", "entry_crashes",
                            self.refusals["entry_crashes/entry_crashes"])
        self.assertEqual((run.summary["on_device"], run.summary["checks"]), (3, 3))

    def test_a_plugin_that_hangs_is_given_up(self):
        # At most --timeout, but no less than 5 s; once beside LibTorch and once alone.
        run = self.run_checks(*self.arguments("entry_hangs"), "--timeout", "1", device="cpu",
                              enable=["elementwise/add"])
        self.assertEqual(run.status, 3, run)
        self.assert_built_in_loaded(run)
        self.assert_refused(run, "entry_hangs", "entry_hangs",
                            "while it was loaded it did not come back within 5 s; " + MEND)
        self.assertEqual(run.result("elementwise/add")["status"], "ok")
        self.assertLess(run.summary["elapsed_s"], 60)

    def test_a_failed_check_wins_over_a_refused_plugin(self):
        run = self.run_checks(*self.arguments("bad_input", "empty"), device="cpu", enable=["good"])
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, errors=1, refused_plugins=1)

    def test_trust_is_said_aloud(self):
        run = self.run_checks(*self.arguments("world_writable"), "--trust-plugins", device="cpu",
                              enable=["good"])
        self.assertEqual(run.status, 0, run)
        self.assertIn(f"\nplugin {BAD_PLUGINS}/world_writable/world_writable.assay.so\n"
                      "  loaded although the file may be written by everybody (--trust-plugins)\n",
                      run.stdout)

    def bad_plan(self, folder):
        run = self.run_checks(*self.arguments(folder), device="cpu",
                              enable=["elementwise/add", "good"])
        self.assertEqual(run.result("elementwise/add")["status"], "ok", run)
        self.assertEqual(run.result(f"good/fine_beside_{folder}")["status"], "ok", run)
        bad = run.result("good/bad")
        self.assertEqual((bad["phase"], bad["outputs"], bad["timing"]), ("bind", [], None))
        return run, bad

    def test_an_unknown_operator_is_skipped(self):
        run, bad = self.bad_plan("bad_operator")
        reason = "this LibTorch has no operator aten::rleu; did you mean 'aten::relu'?"
        self.assertEqual((bad["status"], bad["error"]["type"], bad["error"]["message"]),
                         ("skipped", "missing_operator", reason))
        self.assertTrue(run.row("good/bad[float32]").endswith(" " + reason), run)
        self.assertEqual(run.status, 0)
        self.assert_counts(run, skipped=1)
        self.assertIn(" | 1 skipped | ", run.summary["text"])

    def test_when_all_are_skipped_nothing_ran(self):
        run = self.run_checks(*self.arguments("bad_operator"), device="cpu", enable=["good/bad"])
        self.assertEqual(run.status, 4, run)

    def test_wrong_plans(self):
        for folder, message in [
                ("bad_argument", "call 0, aten::gelu has no argument 'aproximate'; did you mean "
                                 "'approximate'?"),
                ("bad_result", "call 1, aten::relu: there is no result 3 of call 0, aten::relu "
                               "returns 1"),
                ("bad_call_order", "call 0, aten::relu: it uses the result of call 1, which does "
                                   "not come before it"),
                ("bad_input", "call 0, aten::relu: there is no input 4, the check has 1")]:
            with self.subTest(folder):
                run, bad = self.bad_plan(folder)
                self.assertEqual((bad["status"], bad["error"]["type"], bad["error"]["message"]),
                                 ("error", "plan_error", message))
                self.assertTrue(run.row("good/bad[float32]").endswith(f" {message} (bind)"), run)
                self.assertEqual(run.status, 1)
                self.assert_counts(run, errors=1)

    def test_a_plugin_for_another_accelerator_is_skipped(self):
        run = self.run_checks(*self.arguments("rocm_only", "good"), device="cpu", enable=["good"])
        self.assertEqual(run.status, 0, run)
        self.assertEqual({r["id"]: r["status"] for r in run.results},
                         {"good/fine[float32]": "ok", "good/on_rocm[float32]": "skipped"})
        self.assertEqual(run.result("good/on_rocm")["note"],
                         "it needs rocm, and the device is the cpu")
        self.assert_counts(run, checks=2, on_device=1, skipped=1)

    def test_packs_of_other_compilers_run(self):
        expected = [check for check, file in [("c_pack/add", "test_pack_c.assay.so"),
                                              ("libcxx_pack/mul_add", "test_pack_libcxx.assay.so")]
                    if (PACKS / file).is_file()]
        if not expected:
            self.skipTest(f"no pack in {PACKS}")
        run = self.run_checks("--plugin-dir", PACKS, device="cpu", enable=expected)
        self.assertEqual(run.status, 0, run)
        for check in expected:
            result = run.result(check)
            self.assertEqual((result["status"], result["outputs"][0]["shape"]), ("ok", [128, 512]))


if __name__ == "__main__":
    support.main()
