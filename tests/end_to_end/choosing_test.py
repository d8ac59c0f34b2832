#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which plugins are on, and what they are set to: what is off is never opened, and each line says
what decided.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/choosing_test.py
"""
import json
import shutil

import support
from support import TREE, needs_torch

CHOOSING = TREE / "tests" / "choosing"
RULES = """
[pack]
format = 1
id = "acme_rules"
version = "1.0"
vendor = "Acme Inc"

[[diagnosis]]
code = "ACME-SMOKE"
class = "acme_smoke"
title = "Smoke"
category = "user error"
severity = "error"
since = "0.1.0"
cause = "It was planted."
advice.any = ["Open a window."]

[[diagnosis.rule]]
all = ["smoke comes out of it"]
confidence = "likely"
"""
TOML_PACK = """
[pack]
format = 1
id = "com.acme.toml"
version = "1.0"
vendor = "Acme Inc"

[[category]]
name = "tomlish"
summary = "checks without a compiler"

[[check]]
name = "tomlish/relu"
inputs = [{ shape = [8, 8] }]
calls = ['r0 = aten::relu(in0)']
"""


class ChoosingTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.packs = self.home.parent / "packs"
        self.packs.mkdir()
        for name in ("acme_ops", "other_ops"):
            shutil.copy(CHOOSING / f"{name}.assay.so", self.packs)
        # What is only named and never opened.
        (self.packs / "libother.so").write_text("no library", encoding="utf-8")
        (self.packs / "acme_rules.assay.toml").write_text(RULES, encoding="utf-8")
        self.witness = self.home.parent / "witness"

    def opened(self):
        text = self.witness.read_text(encoding="utf-8") if self.witness.exists() else ""
        self.witness.unlink(missing_ok=True)
        return sorted(set(text.split()))

    def list(self, *arguments, env=None, **more):
        listed = self.assay("list", "--plugin-dir", self.packs, *arguments,
                            env={"CHOOSING_WITNESS": self.witness, **(env or {})}, **more)
        listed.opened = self.opened()
        return listed

    def catalogue(self, *arguments, **more):
        listed = self.list("--json", *arguments, **more)
        listed.records = [json.loads(line) for line in listed.stdout.splitlines()]
        return listed

    def assert_usage(self, run, *parts):
        self.assertEqual(run.status, 2, run)
        self.assertEqual(run.stdout, "", run)
        self.assert_one_line(run, *parts)


class OnAndOff(ChoosingTest):
    def test_what_is_off_is_not_opened(self):
        everything = ["com.acme.ops", "org.other.ops"]
        for arguments, opened in [
                ((), everything),
                (("--disable", "plugin:com.acme.*"), ["org.other.ops"]),
                (("--disable", "vendor:Other*"), ["com.acme.ops"]),
                (("--disable", "accelerator:rocm"), ["com.acme.ops"]),
                (("--enable", "plugin:com.acme.ops"), ["com.acme.ops"]),
                (("--enable", "vendor:Acme Inc"), ["com.acme.ops"]),
                (("--enable", "accelerator:rocm"), ["org.other.ops"]),
                (("--enable", "plugin:com.*", "--disable", "plugin:com.acme.ops"), []),
                # These choose among checks, which only an opened plugin names.
                (("--enable", "acme"), everything),
                (("--disable", "dtype:float16"), everything)]:
            with self.subTest(arguments):
                listed = self.catalogue(*arguments)
                self.assertEqual((listed.status, listed.stderr), (0, ""), listed)
                self.assertEqual(listed.opened, opened)
                status = {record["id"]: record["status"] for record in listed.of_kind("plugin")
                          if record["status"] != "not_a_plugin"}
                self.assertEqual(
                    {id: status[id] for id in everything},
                    {id: "loaded" if id in opened else "off" for id in everything})
                self.assertEqual(status["diag_system"], "loaded", "diagnostics were not named")

    def test_op_packs_beside_a_trace_are_not_opened(self):
        log = self.folder / "model.txt"
        log.write_text("Operator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\n",
                       encoding="utf-8")
        log.chmod(0o644)
        for arguments, opened in [
                ((), []), (("--enable", "plugin:com.acme.ops"), ["com.acme.ops"]),
                (("--enable", "acme"), ["com.acme.ops", "org.other.ops"])]:
            with self.subTest(arguments):
                listed = self.catalogue("--trace", log, *arguments)
                self.assertEqual((listed.status, listed.stderr), (0, ""), listed)
                self.assertEqual(listed.opened, opened)
                self.assertIn("trace/relu_1", [one["check"] for one in listed.of_kind("check")])
        self.assertEqual(self.catalogue("--trace", log).plugin("acme_ops.assay.so")["reason"],
                         "--trace names others")
        log.write_text("Operator: aten.relu.default\ncnt: 1, 7\n", encoding="utf-8")
        run = self.assay("run", "--list-only", "--trace", log)
        self.assertEqual((run.status, run.stdout), (3, ""), run)
        self.assert_one_line(run, "is refused: model.txt:2:9: found '7'")

    def test_a_second_file_of_an_id_is_not_opened(self):
        shutil.copy(self.packs / "acme_ops.assay.so", self.packs / "zz.assay.so")
        listed = self.assay("list", "--json", "--plugin-dir", self.packs,
                            env={"CHOOSING_WITNESS": self.witness})
        self.assertEqual(listed.status, 3, listed)
        lines = self.witness.read_text(encoding="utf-8").split()
        self.assertEqual(lines.count("com.acme.ops"), 1)
        self.assertIn("plugin id 'com.acme.ops' is taken by", listed.stdout)

    def test_the_record_of_one_that_is_off(self):
        listed = self.catalogue("--disable", "plugin:com.acme.ops")
        record = listed.plugin("acme_ops.assay.so")
        self.assertEqual(record["status"], "off")
        self.assertEqual(record["reason"], "--disable 'plugin:com.acme.ops'")
        self.assertEqual((record["version"], record["vendor"], record["accelerator"]),
                         ("1.2", "Acme Inc", "any"))
        self.assertEqual(len(record["sha256"]), 64)

    def test_diagnostics_are_off_when_they_are_named(self):
        listed = self.catalogue("--disable", "plugin:diag_*")
        self.assertEqual(listed.status, 0)
        self.assertEqual(listed.plugin("diag_system.assay.so")["status"], "off")

    def test_rule_files_are_off_when_they_are_named(self):
        for arguments, status in [((), "read"), (("--enable", "plugin:norm"), "read"),
                                  (("--disable", "plugin:acme_rules"), "off"),
                                  (("--disable", "vendor:Acme Inc"), "off")]:
            with self.subTest(arguments):
                listed = self.catalogue(*arguments)
                self.assertEqual(listed.status, 0, listed)
                file, = [one for one in listed.of_kind("rule_file") if one["id"] == "acme_rules"]
                self.assertEqual(file["status"], status)
                told = self.assay("explain", "--plugin-dir", self.packs, *arguments,
                                  input="smoke comes out of it\n")
                self.assertEqual("ACME-SMOKE" in told.stdout, status == "read", told)

    def test_op_packs_in_toml(self):
        (self.packs / "toml.assay.toml").write_text(TOML_PACK, encoding="utf-8")
        for arguments, status in [((), "loaded"), (("--enable", "plugin:norm"), "off"),
                                  (("--enable", "plugin:com.acme.toml"), "loaded"),
                                  (("--disable", "vendor:Acme Inc"), "off")]:
            with self.subTest(arguments):
                listed = self.catalogue(*arguments)
                self.assertEqual(listed.status, 0, listed)
                record = listed.plugin("toml.assay.toml")
                self.assertEqual((record["status"], record["id"], len(record["sha256"])),
                                 (status, "com.acme.toml", 64))
                checks = [check["check"] for check in listed.of_kind("check")]
                self.assertEqual("tomlish/relu" in checks, status == "loaded")

    def test_every_command_heeds_it(self):
        off = {"ASSAY_DISABLE": "plugin:com.acme.ops", "CHOOSING_WITNESS": self.witness}
        for arguments in (["show", "norm/layer_norm"], ["doctor", "--json"],
                          ["run", "--list-only", "--enable", "norm"]):
            with self.subTest(arguments):
                self.assay(*arguments, "--plugin-dir", self.packs, env=off)
                self.assertEqual(self.opened(), ["org.other.ops"])

    def test_places(self):
        (self.folder / "assay.ini").write_text("disable = vendor:Acme*\n", encoding="utf-8")
        listed = self.catalogue()
        record = listed.plugin("acme_ops.assay.so")
        self.assertEqual(record["reason"],
                         f"{self.folder.resolve()}/assay.ini: disable 'vendor:Acme*'")
        listed = self.catalogue(env={"ASSAY_DISABLE": "plugin:org.other.ops"})
        self.assertEqual(listed.plugin("acme_ops.assay.so")["status"], "loaded",
                         "a list is not put together from several places")
        self.assertEqual(listed.plugin("other_ops.assay.so")["reason"],
                         "ASSAY_DISABLE 'plugin:org.other.ops'")

    def test_globs_that_mean_nothing(self):
        for arguments, part in [
                (["--disable", "plugin:com.acme.pos"], "did you mean 'com.acme.ops'?"),
                (["--enable", "vendor:Acne Inc"], "did you mean 'Acme Inc'?"),
                (["--enable", "plugn:norm"], "did you mean 'plugin'?"),
                (["--enable", "dtype:flaot16"], "unknown dtype 'flaot16'")]:
            with self.subTest(arguments):
                self.assert_usage(self.list(*arguments), part)
        told = self.list("--disable", "plugin:com.acme.ops", "--disable", "nrom")
        self.assertEqual(told.status, 0)
        self.assert_one_line(told, "--disable 'nrom' matches no category and no check of the "
                                   "plugins that are on; did you mean 'norm'?")

    def test_list_takes_disable_and_dtype(self):
        listed = self.catalogue("--disable", "norm", "--dtype", "float64")
        self.assertEqual({check["category"] for check in listed.of_kind("check")} & {"norm"}, set())
        text = self.list("--enable", "acme", "--dtype", "fp16").stdout
        self.assertIn("    acme/layer_norm  float16\n", text)

    def test_a_dtype_by_its_glob(self):
        run = self.assay("run", "--list-only", "--plugin-dir", self.packs, "--enable",
                         "plugin:com.acme.ops", "--disable", "dtype:float32")
        self.assertEqual(run.status, 4, "its checks' default is off")
        run = self.assay("run", "--list-only", "--plugin-dir", self.packs, "--enable",
                         "dtype:half", "--disable", "plugin:norm")
        self.assertIn("acme/pad[float16]\n", run.stdout)
        self.assertNotIn("float32", run.stdout)

    def test_why(self):
        (self.folder / "assay.ini").write_text("enable = acme, norm/layer_norm\n", encoding="utf-8")
        ini = f"{self.folder.resolve()}/assay.ini: enable"
        why = self.list("--why", "--disable", "plugin:org.other.ops", "--disable", "acme/pad",
                        "--dtype", "float32").stdout.split("\nWhy\n")[1]
        lines = [" ".join(line.split()) for line in why.splitlines()]
        for line in ("plugin com.acme.ops on built in",
                     "plugin org.other.ops off --disable 'plugin:org.other.ops'",
                     "rule file acme_rules on built in",
                     f"check acme/layer_norm[float32] on {ini} 'acme'",
                     "check acme/layer_norm[float16] off --dtype names others",
                     "check acme/pad[float32] off --disable 'acme/pad'",
                     f"check norm/layer_norm[float32] on {ini} 'norm/layer_norm'",
                     f"check norm/batch_norm[float32] off {ini} names others"):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith(f"category acme on {ini} 'acme'; ") for line in lines))
        listed = self.catalogue("--why", "--enable", "plugin:com.acme.ops")
        states = {(one["what"], one["name"]): (one["state"], one["line"])
                  for one in listed.of_kind("why")}
        self.assertEqual(states["plugin", "org.other.ops"], ("off", "--enable names others"))
        self.assertEqual(states["category", "acme"], ("on", "--enable 'plugin:com.acme.ops'"))

    @needs_torch
    def test_a_run(self):
        run = self.run_checks("--plugin-dir", self.packs, "--disable", "plugin:org.other.ops",
                              enable=["acme"], device="cpu",
                              env={"CHOOSING_WITNESS": self.witness})
        self.assertEqual(run.status, 0, run)
        self.assertEqual(self.opened(), ["com.acme.ops"])
        self.assert_counts(run)
        off = run.plugin("other_ops.assay.so")
        self.assertEqual((off["status"], off["reason"]),
                         ("off", "--disable 'plugin:org.other.ops'"))
        self.assertIn("Not opened: org.other.ops (--disable 'plugin:org.other.ops')", run.stdout)
        for record in run.of_kind("plugin"):
            if record["status"] != "not_a_plugin":
                self.assertRegex(record["sha256"], "^[0-9a-f]{64}$")


class Settings(ChoosingTest):
    def options(self, *arguments, **more):
        record = self.catalogue(*arguments, **more).plugin("acme_ops.assay.so")
        return {option["name"]: option["value"] for option in record["options"]}

    def test_each_place(self):
        self.assertEqual(self.options(),
                         {"eps": 1e-5, "width": 32, "affine": True, "side": "left"})
        self.assertEqual(self.options("--set", "com.acme.ops.eps=1e-6", "--set",
                                      "com.acme.ops.side=right")["eps"], 1e-6)
        self.assertEqual(
            self.options(env={"ASSAY_SET": "com.acme.ops.width=8,com.acme.ops.affine=no"}),
            {"eps": 1e-5, "width": 8, "affine": False, "side": "left"})
        config = self.folder / "mine.ini"
        config.write_text("set = com.acme.ops.width=16, com.acme.ops.side=right\n",
                          encoding="utf-8")
        self.assertEqual(self.options("--config", config),
                         {"eps": 1e-5, "width": 16, "affine": True, "side": "right"})

    def test_it_reaches_the_plan(self):
        shown = self.assay("show", "acme/layer_norm", "--plugin-dir", self.packs, "--set",
                           "com.acme.ops.width=48")
        self.assertEqual(shown.status, 0, shown)
        self.assertIn("48", shown.stdout)

    @needs_torch
    def test_it_reaches_the_run(self):
        run = self.run_checks("--plugin-dir", self.packs, "--set", "com.acme.ops.width=48",
                              enable=["acme/layer_norm"], device="cpu")
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.result("acme/layer_norm")["outputs"][0]["shape"], [4, 48])

    def test_list_shows_them(self):
        lines = self.list("--set", "com.acme.ops.eps=0.5").stdout.splitlines()
        self.assertIn("  com.acme.ops.eps = 0.5 (real, default 1e-05, 0.0 to 1.0): epsilon of "
                      "every norm", lines)
        self.assertIn("  com.acme.ops.width = 32 (integer, default 32, 1 to 4096): features of "
                      "every input", lines)
        self.assertIn("  com.acme.ops.side = 'left' (text, default 'left', one of left, right): "
                      "where it is padded", lines)

    def test_what_is_wrong_ends_before_anything_runs(self):
        for setting, parts in [
                ("com.acme.pos.eps=1", ["no plugin 'com.acme.pos'", "did you mean 'com.acme.ops'?"]),
                ("com.acme.ops.esp=1", ["no option 'esp'", "did you mean 'eps'?"]),
                ("norm.eps=1", ["plugin norm has no option 'eps'; it has none"]),
                ("com.acme.ops.eps=tiny", ["takes a number between 0.0 and 1.0"]),
                ("com.acme.ops.eps=2", ["takes a number between 0.0 and 1.0"]),
                ("com.acme.ops.width=1.5", ["takes a whole number"]),
                ("com.acme.ops.affine=maybe", ["com.acme.ops.affine=maybe"]),
                ("com.acme.ops.side=lfet", ["one of left, right", "did you mean 'left'?"]),
                ("eps=1", ["write PLUGIN.NAME=VALUE"])]:
            with self.subTest(setting):
                self.assert_usage(self.list("--set", setting), *parts)
                self.assert_usage(self.assay("run", "--list-only", "--plugin-dir", self.packs,
                                             "--set", setting), *parts)

    def test_of_a_plugin_that_is_off(self):
        listed = self.list("--set", "com.acme.ops.eps=9", "--disable", "plugin:com.acme.ops")
        self.assertEqual(listed.status, 0, listed)
        self.assert_one_line(listed, "has no effect: plugin com.acme.ops is off (--disable "
                                     "'plugin:com.acme.ops')")

    def test_a_strangers_assay_ini_sets_nothing(self):
        (self.folder / "assay.ini").write_text("set = com.acme.ops.eps=1\n", encoding="utf-8")
        self.assert_usage(self.list(), "'set' may not stand in a folder's own assay.ini")


if __name__ == "__main__":
    support.main()
