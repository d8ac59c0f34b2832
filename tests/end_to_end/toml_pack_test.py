#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Op packs that are TOML files, on the built program: loaded, refused, run, and printed again.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/toml_pack_test.py
"""
import json
import pathlib
import re
import shutil
import stat
import subprocess

import support
from support import PLANTED, TREE

DOC = pathlib.Path(__file__).resolve().parents[2] / "docs" / "writing-a-toml-pack.md"
CHECK_COUNT = 55

PACK = """[pack]
format = 1
id = "acme"
version = "1.0"
vendor = "Acme"
"""
HEAD = PACK + """[[category]]
name = "acme"
summary = "operators of our model"
"""  # 8 lines


def a_check(name, calls, more=""):
    quoted = "\n".join(f"  '''{call}'''," for call in calls)
    return (f'[[check]]\nname = "acme/{name}"\ninputs = [{{ shape = [8, 8] }}]\n'
            f"calls = [\n{quoted}\n]\n{more}\n")


def without_places(record):
    """A check's record without what says where it is written, and whose it is."""
    record = dict(record, source=None, plugin=None)
    for form in (record, record["large"] or {}):
        for plan in ("plan", "reference"):
            form[plan] = [dict(call, source=None) for call in form.get(plan) or []]
    return record


class TomlPackTest(support.EndToEndTest):
    def pack(self, text, name="acme.assay.toml", folder="packs"):
        file = self.folder / folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def listed(self, *arguments):
        run = self.assay("list", "--json", *arguments)
        records = [json.loads(line) for line in run.stdout.splitlines()]
        return run, {kind: [record for record in records if record["record"] == kind]
                     for kind in ("plugin", "check", "rule_file")}

    def of_file(self, records, file):
        return [record for record in records if record["file"] == str(file)]


class LoadingTest(TomlPackTest):
    def test_the_examples_of_the_documentation(self):
        blocks = re.findall(r"```toml\n(.*?)```", DOC.read_text(encoding="utf-8"), re.DOTALL)
        self.assertEqual(len(blocks), 2)
        for number, block in enumerate(blocks):
            self.pack(block, f"block{number}.assay.toml")
        run, found = self.listed("--plugin-dir", "packs")
        self.assertEqual(run.status, 0, run)
        mine = {check["check"]: check for check in found["check"] if "acme" in check["check"]}
        self.assertEqual(set(mine),
                         {"acme/feed_forward", "acme/lookup", "acme_custom/fused_norm"})
        self.assertEqual(mine["acme/feed_forward"]["large"]["inputs"][0]["sizes"], [8192, 512])
        self.assertEqual(mine["acme/feed_forward"]["source"], "block0.assay.toml:11")
        listed = self.assay("list", "--plugin-dir", "packs").stdout
        self.assertRegex(listed,
                         r"com\.acme\.ops +1\.0 +Acme +any +2 +loaded\n +\S+/block0\.assay\.toml\n")

    def test_mistakes_refuse_the_file_as_a_whole(self):
        good = HEAD + a_check("one", ["aten::relu(in0)"])
        bad = self.pack(good + a_check("two", ["aten::relu(in1)"]), "bad.assay.toml")
        self.pack(good.replace("acme", "other"), "other.assay.toml")
        run, found = self.listed("--plugin-dir", "packs")
        self.assertEqual(run.status, 3)
        record, = self.of_file(found["plugin"], bad)
        self.assertEqual((record["status"], record["reason"]), (
            "refused", "bad.assay.toml:20:17: check acme/two, call 0, character 12: "
                       "there is no input in1, the check has 1, counted from in0"))
        names = [check["check"] for check in found["check"]]
        self.assertIn("other/one", names)
        self.assertNotIn("acme/one", names)
        for arguments, status in [([], 3), (["--enable", "plugin:acme"], 3),
                                  (["--disable", "plugin:acme"], 0)]:
            run = self.assay("run", "--list-only", "--plugin-dir", "packs", *arguments)
            self.assertEqual(run.status, status, run)
            if status == 3:
                self.assert_one_line(run, f"{bad} is refused: bad.assay.toml:20:17: check acme/two")
        shown = self.assay("show", "acme/one", "--plugin-dir", "packs")
        self.assertEqual(shown.status, 3, shown)
        self.assert_one_line(shown, f"there is no check 'acme/one'; plugin {bad} is refused (bad.assay")
        shown = self.assay("show", "acme/one", "--plugin-dir", "packs", "--disable", "plugin:acme")
        self.assertEqual(shown.status, 2, shown)
        self.assert_one_line(shown, "plugin acme is off (--disable 'plugin:acme')")

    def test_names_that_are_taken(self):
        self.pack(HEAD + a_check("one", ["aten::relu(in0)"]), "a.assay.toml")
        self.pack(HEAD.replace('id = "acme"', 'id = "other"') + a_check("one", ["aten::relu(in0)"]),
                  "b.assay.toml")
        self.pack(HEAD + a_check("two", ["aten::relu(in0)"]), "c.assay.toml")
        _, found = self.listed("--plugin-dir", "packs")
        reasons = {pathlib.Path(record["file"]).name: record.get("reason")
                   for record in found["plugin"]}
        self.assertEqual(reasons["a.assay.toml"], "")
        self.assertIn("check 'acme/one' is registered by", reasons["b.assay.toml"])
        self.assertIn("plugin id 'acme' is taken by", reasons["c.assay.toml"])

    def test_a_file_that_others_may_write(self):
        file = self.pack(HEAD + a_check("one", ["aten::relu(in0)"]))
        file.chmod(file.stat().st_mode | stat.S_IWOTH)
        _, found = self.listed("--plugin-dir", "packs")
        self.assertIn("--trust-plugins", self.of_file(found["plugin"], file)[0]["reason"])
        _, found = self.listed("--plugin-dir", "packs", "--trust-plugins")
        self.assertEqual(self.of_file(found["plugin"], file)[0]["status"], "loaded")

    def test_one_file_with_rules_and_checks(self):
        rules = """[[diagnosis]]
code = "ACME-OLD"
class = "acme_old"
title = "The Acme driver is old"
category = "driver"
severity = "error"
since = "1.0"
cause = "It is old."
advice.any = ["Update it."]
[[diagnosis.rule]]
all = ["acme: driver is too old"]
confidence = "likely"
"""
        pack = 'accelerator = "any"\nload_library = ["libnone.so"]\n'
        checks = HEAD.replace('vendor = "Acme"\n', 'vendor = "Acme"\n' + pack)
        both = self.pack(checks + a_check("one", ["aten::relu(in0)"]) + rules)
        only_rules = self.pack(PACK.replace("acme", "acme2") +
                               rules.replace("ACME-OLD", "ACME-OLDER"), "rules.assay.toml")
        run, found = self.listed("--plugin-dir", "packs")
        self.assertEqual(run.status, 0, run)
        self.assertEqual(self.of_file(found["plugin"], both)[0]["check_count"], 1)
        self.assertEqual(self.of_file(found["rule_file"], both)[0]["rules"], 1)
        self.assertEqual(self.of_file(found["plugin"], only_rules), [])
        self.assertEqual(self.of_file(found["rule_file"], only_rules)[0]["rules"], 1)
        log = self.assay("explain", "--plugin-dir", "packs", input="acme: driver is too old\n")
        self.assertIn("ACME-OLD", log.stdout)

    def test_checks_alone_are_no_rule_file(self):
        self.pack(HEAD + a_check("one", ["aten::relu(in0)"]))
        self.pack(HEAD.replace("acme", "broken") + "[[check]]\nname = \n", "broken.assay.toml")
        _, found = self.listed("--plugin-dir", "packs")
        self.assertEqual([r for r in found["rule_file"] if "packs" in r["file"]], [])
        explained = self.assay("explain", "--plugin-dir", "packs", input="nothing\n")
        self.assertNotIn("rule file", explained.stderr)

    def test_checks_that_are_not_found_by_their_headers_are_told(self):
        self.pack('check = [{ name = "a/b" }]\n' + PACK, "b.assay.toml")
        run, found = self.listed("--plugin-dir", "packs")
        reasons = {pathlib.Path(r["file"]).name: r["reason"] for r in found["rule_file"]}
        self.assertEqual(run.status, 3)
        self.assertIn("'check' is written as [[check]], at the beginning of a line",
                      reasons["b.assay.toml"])

    def test_shipped_rule_files_are_not_the_workers(self):
        rules = list((TREE / "lib" / "assay" / "plugins").glob("*.assay.toml"))
        self.assertTrue(rules)
        _, found = self.listed()
        for path in rules:
            self.assertEqual(self.of_file(found["plugin"], path), [])

    def test_what_only_looks_like_a_check_is_left_alone(self):
        file = self.pack(PACK + "[[diagnosis]]\ncause = '''\n"
                         "[[check]]'''\n")
        _, found = self.listed("--plugin-dir", "packs")
        self.assertEqual(self.of_file(found["plugin"], file)[0]["status"], "not_a_plugin")


class ShowTest(TomlPackTest):
    def test_every_shipped_check_comes_back(self):
        _, shipped = self.listed()
        self.assertEqual(len(shipped["check"]), CHECK_COUNT)
        printed = self.assay("show", "*", "--toml")
        self.assertEqual((printed.status, printed.stderr), (0, ""))
        moved = self.folder / "tree"
        for part in ("bin", "libexec/assay"):
            (moved / part).mkdir(parents=True)
        shutil.copy2(TREE / "bin" / "assay", moved / "bin")
        shutil.copy2(TREE / "libexec" / "assay" / "assay-worker", moved / "libexec" / "assay")
        plugins = moved / "lib" / "assay" / "plugins"
        plugins.mkdir(parents=True)
        (plugins / "shown.assay.toml").write_text(printed.stdout, encoding="utf-8")
        done = subprocess.run([moved / "bin" / "assay", "list", "--json"], capture_output=True,
                              text=True, check=True, cwd=self.folder,
                              env=support.clean_environment(self.home))
        records = [json.loads(line) for line in done.stdout.splitlines()]
        again = {record["check"]: record for record in records if record["record"] == "check"}
        self.assertEqual(len(again), CHECK_COUNT)
        for check in shipped["check"]:
            with self.subTest(check["check"]):
                self.assertEqual(without_places(again[check["check"]]), without_places(check))
        summaries = {category["name"]: category["summary"] for plugin in shipped["plugin"]
                     for category in plugin.get("categories", [])}
        self.assertEqual({category["name"]: category["summary"] for record in records
                          for category in record.get("categories", [])},
                         {name: summaries[name] for name in
                          {check["category"] for check in shipped["check"]}})

    def test_one_check_names_its_plugin_and_library(self):
        run = self.assay("show", "planted/warns", "--toml", "--plugin-dir", PLANTED)
        self.assertEqual(run.status, 0, run)
        self.assertIn('id = "planted"\n', run.stdout)
        self.assertIn(f'load_library = ["{PLANTED}/libplanted_operators.so"]\n', run.stdout)
        self.assertEqual(run.stdout.count("[[check]]"), 1)

    def test_wrong_usage(self):
        for arguments, *parts in [
                (["conv/conv2", "--toml"], "no check is called 'conv/conv2'",
                 "did you mean 'conv/conv2d'?"),
                (["qq*", "--toml"], "none matches it", "assay list"),
                (["conv/conv2d", "--toml", "--python"], "leave one of them out"),
                (["conv/conv2d", "--toml", "--dtype", "float16"], "leave --dtype out")]:
            run = self.assay("show", *arguments)
            self.assertEqual((run.status, run.stdout), (2, ""), run)
            self.assert_one_line(run, *parts)


@support.needs_torch
class RunTest(TomlPackTest):
    def test_run_judged_skipped_and_bound(self):
        shutil.copy2(PLANTED / "libplanted_operators.so", self.folder)
        head = HEAD.replace('vendor = "Acme"', 'vendor = "Acme"\n'
                            'load_library = ["../libplanted_operators.so"]')  # 9 lines
        checks = [
            ("good", ["r0 = aten::softmax.int(in0, -1)"], "accuracy = { terms = 8 }"),
            ("wrong", ["aten::relu(in0)"], "reference = ['aten::sigmoid(in0)']"),
            ("misspelt", ["aten::relu(in0)", "aten::gelu(r0, aproximate='tanh')"], ""),
            ("kind", ["aten::gelu(in0, approximate=3)"], ""),
            ("missing", ["aten::geluu(in0)"], ""),
            ("bad_reference", ["aten::relu(in0)"], "reference = ['aten::relu(in0, x=1)']"),
            ("reference_missing", ["aten::relu(in0)"], "reference = ['aten::reluu(in0)']"),
            ("shapes", ["aten::relu(in0)", "aten::view(r0, [7])"], ""),
            ("own", ["planted::fine(in0)"], "reference = ['aten::mul.Scalar(in0, 2)']"),
            ("not_there", ["torchvision::nms(in0, in0, 0.5)"], ""),
            ("all_kinds", ["aten::zeros([2], dtype=dtype_under_test, device=device_under_test)",
                           "aten::index.Tensor(in0, [None, r1])", "aten::relu(r2)"], ""),
        ]
        checks[-1][1].insert(1, "aten::argsort(r0)")
        lines = {}
        text = head
        for name, calls, more in checks:
            lines[name] = text.count("\n") + 5  # of its first call
            text += a_check(name, calls, more)
        self.pack(text)
        run = self.run_checks("--plugin-dir", "packs", "--profile", "quick", device="cpu",
                              enable=["acme"], evidence=True)
        status = {name: run.result(f"acme/{name}")["status"] for name, _, _ in checks}
        self.assertEqual(status, {"good": "ok", "wrong": "ok", "misspelt": "error", "kind": "error",
                                  "missing": "skipped", "bad_reference": "error",
                                  "reference_missing": "ok", "shapes": "error", "own": "ok", "not_there": "skipped",
                                  "all_kinds": "ok"}, run)
        self.assertEqual(run.links("acme/good")["correct"], "pass")
        self.assertEqual(run.links("acme/own")["correct"], "pass")
        self.assertEqual(run.links("acme/wrong")["correct"], "fail")
        self.assertEqual(run.links("acme/reference_missing")["correct"], "unknown")
        found = {record["code"]: record for record in run.of_kind("diagnosis")}
        self.assertEqual([check["id"] for check in found["TORCH-CHECK-REFERENCE"]["checks"]],
                         ["acme/wrong[float32]"])
        self.assertNotIn("TORCH-WRONG-RESULT", found)  # which speaks of a GPU's kernels

        def message(name):
            return run.result(f"acme/{name}")["error"]["message"]
        self.assertEqual(message("misspelt"),
                         f"acme.assay.toml:{lines['misspelt'] + 1}: call 1, aten::gelu has no "
                         "argument 'aproximate'; did you mean 'approximate'?")
        self.assertEqual(message("kind"),
                         f"acme.assay.toml:{lines['kind']}: call 0, aten::gelu: argument "
                         "'approximate' wants str, the plan gives an int")
        self.assertTrue(message("missing").startswith(
            f"acme.assay.toml:{lines['missing']}: this LibTorch has no operator aten::geluu; did"),
            message("missing"))
        self.assertIn("has no operator torchvision::nms", message("not_there"))
        self.assertRegex(message("bad_reference"),
                         r"^acme\.assay\.toml:\d+: reference call 0, aten::relu has no argument 'x'")
        self.assertTrue(message("shapes").startswith(
            f"acme.assay.toml:{lines['shapes'] + 1}: call 1, aten::view: shape '[7]' is invalid"),
            message("shapes"))
        self.assertEqual(run.result("acme/shapes")["phase"], "first_call")


if __name__ == "__main__":
    support.main()
