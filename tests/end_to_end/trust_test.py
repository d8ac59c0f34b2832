#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose code is opened: writable files and folders, pinned hashes, the order of the folders, and
nothing from the current folder by accident.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/trust_test.py
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import support
from support import TREE, needs_torch

CHOOSING = TREE / "tests" / "choosing"
RULES = """
[pack]
format = 1
id = "acme_rules"
version = "1.0"
vendor = "Acme Inc"
"""


class TrustTest(support.EndToEndTest):
    def setUp(self):
        super().setUp()
        self.base = self.home.parent
        self.packs = self.base / "packs"
        self.packs.mkdir()
        self.witness = self.base / "witness"

    def put(self, name, folder=None):
        return pathlib.Path(shutil.copy(CHOOSING / f"{name}.assay.so", folder or self.packs))

    def opened(self):
        text = self.witness.read_text(encoding="utf-8") if self.witness.exists() else ""
        self.witness.unlink(missing_ok=True)
        return sorted(set(text.split()))

    def catalogue(self, *arguments, env=None, **more):
        listed = self.assay("list", "--json", *arguments,
                            env={"CHOOSING_WITNESS": self.witness, **(env or {})}, **more)
        listed.opened = self.opened()
        listed.records = [json.loads(line) for line in listed.stdout.splitlines()]
        return listed

    def of_packs(self, *arguments, **more):
        return self.catalogue("--plugin-dir", self.packs, *arguments, **more)


class WhoMayWrite(TrustTest):
    def assert_refused(self, listed, record, who):
        self.assertEqual(listed.status, 3, listed)
        self.assertEqual(record["status"], "refused", listed)
        self.assertTrue(record["reason"].startswith(who), record["reason"])
        self.assertIn("--trust-plugins", record["reason"])
        self.assertEqual(listed.opened, [])

    def test_a_folder_far_above(self):
        deep = self.base / "open" / "own" / "packs"
        deep.mkdir(parents=True)
        self.put("acme_ops", deep)
        (deep / "acme_rules.assay.toml").write_text(RULES, encoding="utf-8")
        (self.base / "open").chmod(0o777)
        listed = self.catalogue("--plugin-dir", deep)
        who = f"its folder {self.base}/open may be written by everybody, "
        self.assert_refused(listed, listed.plugin("acme_ops.assay.so"), who)
        rules, = [record for record in listed.of_kind("rule_file")
                  if record["file"].endswith("acme_rules.assay.toml")]
        self.assert_refused(listed, rules, who)
        trusted = self.catalogue("--plugin-dir", deep, "--trust-plugins")
        self.assertEqual(trusted.opened, ["com.acme.ops"])
        self.assertEqual(trusted.plugin("acme_ops.assay.so")["trusted_in_spite_of"], who[:-2])

    @unittest.skipIf(os.geteuid() != 0, "only root can give files away")
    def test_a_link_of_somebody_else(self):
        self.put("acme_ops")
        link = self.base / "link"
        link.symlink_to(self.packs)
        os.chown(link, 12345, -1, follow_symlinks=False)
        listed = self.catalogue("--plugin-dir", link)
        self.assert_refused(listed, listed.plugin("acme_ops.assay.so"),
                            f"the link {link} belongs to user 12345, ")

    def test_an_operator_library(self):
        self.put("other_ops")
        library = self.packs / "libother.so"
        library.write_text("code", encoding="utf-8")
        self.assertEqual(self.of_packs().plugin("other_ops.assay.so")["operator_libraries"], [str(library)])
        library.chmod(0o666)
        listed = self.of_packs()
        record = listed.plugin("other_ops.assay.so")
        self.assertEqual((listed.status, record["status"]), (3, "refused"))
        self.assertTrue(record["reason"].startswith(
            f"its operator library {library}: the file may be written by everybody, "), record)
        self.assertEqual(self.of_packs("--trust-plugins").status, 0)


class Lock(TrustTest):
    def setUp(self):
        super().setUp()
        self.acme = self.put("acme_ops")
        self.other = self.put("other_ops")
        (self.packs / "libother.so").write_text("code", encoding="utf-8")
        (self.packs / "acme_rules.assay.toml").write_text(RULES, encoding="utf-8")
        self.lock = self.base / "plugins.lock"
        written = self.of_packs("--write-lock", self.lock)
        self.assertEqual((written.status, written.stderr), (0, ""))

    def locked(self, *arguments, **more):
        return self.of_packs("--plugins-lock", self.lock, *arguments, **more)

    def test_what_is_pinned_loads(self):
        listed = self.locked()
        self.assertEqual((listed.status, listed.stderr), (0, ""), listed)
        self.assertEqual(listed.opened, ["com.acme.ops", "org.other.ops"])
        text = self.lock.read_text(encoding="utf-8")
        digest = hashlib.sha256(self.acme.read_bytes()).hexdigest()
        self.assertEqual(listed.plugin("acme_ops.assay.so")["sha256"], digest)
        self.assertIn('[[plugin]]\nid = "com.acme.ops"\nversion = "1.2"\nvendor = "Acme Inc"\n'
                      f'file = "acme_ops.assay.so"\nsha256 = "{digest}"\n', text)
        self.assertIn('file = "libother.so"', text)
        self.assertIn('id = "acme_rules"', text)

    def test_another_hash_is_refused_and_not_opened(self):
        with self.acme.open("ab") as file:
            file.write(b"one byte more")
        listed = self.locked()
        record = listed.plugin("acme_ops.assay.so")
        self.assertEqual((listed.status, record["status"]), (3, "refused"))
        self.assertIn(f"{self.lock} has com.acme.ops 1.2 with another SHA-256", record["reason"])
        self.assertEqual(record["vendor"], "Acme Inc", "it is known who was refused")
        self.assertEqual(listed.opened, ["org.other.ops"])
        self.assertEqual(listed.plugin("norm.assay.so")["status"], "loaded")

    def test_what_is_not_in_it_is_refused_and_not_opened(self):
        text = self.lock.read_text(encoding="utf-8")
        begin = text.index('[[plugin]]\nid = "com.acme.ops"')
        self.lock.write_text(text[:begin] + text[text.index("[[plugin]]", begin + 1):],
                             encoding="utf-8")
        listed = self.locked()
        self.assertIn(f"it is not in {self.lock}; ", listed.plugin("acme_ops.assay.so")["reason"])
        self.assertEqual(listed.opened, ["org.other.ops"])

    def test_a_rule_file_is_pinned_too(self):
        (self.packs / "acme_rules.assay.toml").write_text(RULES + "\n", encoding="utf-8")
        listed = self.locked()
        self.assertEqual(listed.status, 3)
        refused, = [one for one in listed.of_kind("rule_file") if one["status"] == "refused"]
        self.assertIn("another SHA-256", refused["reason"])

    def test_an_op_pack_in_toml_is_pinned_too(self):
        pack = self.packs / "toml.assay.toml"
        pack.write_text(RULES.replace("acme_rules", "com.acme.toml") +
                        '[[category]]\nname = "tomlish"\nsummary = "no compiler"\n\n'
                        '[[check]]\nname = "tomlish/relu"\ninputs = [{ shape = [8, 8] }]\n'
                        "calls = ['r0 = aten::relu(in0)']\n", encoding="utf-8")
        self.assertIn("it is not in", self.locked().plugin("toml.assay.toml")["reason"])
        self.assertEqual(self.of_packs("--write-lock", self.lock).status, 0)
        self.assertEqual(self.locked().plugin("toml.assay.toml")["status"], "loaded")
        with pack.open("a", encoding="utf-8") as file:
            file.write("\n")
        listed = self.locked()
        self.assertEqual(listed.status, 3)
        self.assertIn("another SHA-256", listed.plugin("toml.assay.toml")["reason"])

    def test_an_operator_library_is_pinned_too(self):
        (self.packs / "libother.so").write_text("other code", encoding="utf-8")
        listed = self.locked()
        record = listed.plugin("other_ops.assay.so")
        self.assertEqual((listed.status, record["status"]), (3, "refused"))
        self.assertIn("its operator library", record["reason"])
        self.assertEqual(listed.plugin("acme_ops.assay.so")["status"], "loaded")

    def test_a_plugin_that_is_gone_is_told(self):
        self.acme.unlink()
        listed = self.locked()
        self.assertEqual(listed.status, 0)
        self.assert_one_line(listed, f"{self.lock} has plugin com.acme.ops 1.2, of which no plugin "
                                     "folder has a file")

    def test_every_command_heeds_it(self):
        with self.acme.open("ab") as file:
            file.write(b"one byte more")
        env = {"ASSAY_PLUGINS_LOCK": self.lock, "CHOOSING_WITNESS": self.witness}
        for arguments in (["show", "norm/layer_norm"], ["doctor", "--json"],
                          ["run", "--list-only"]):
            with self.subTest(arguments):
                self.assay(*arguments, "--plugin-dir", self.packs, env=env)
                self.assertEqual(self.opened(), ["org.other.ops"])

    def test_locks_that_are_none(self):
        for text, part in [("", "a lock needs format = 1"), ("format = ", "mend it"),
                           ("format = 1\n[[plugin]]\n", "needs id"),
                           ("format = 1\n[[plugni]]\n", "did you mean 'plugin'?")]:
            with self.subTest(text):
                self.lock.write_text(text, encoding="utf-8")
                listed = self.locked()
                self.assertEqual((listed.status, listed.stdout, listed.opened), (2, "", []))
                self.assert_one_line(listed, f"--plugins-lock: {self.lock}:", part)
        missing = self.of_packs("--plugins-lock", self.base / "none")
        self.assertEqual(missing.status, 2)
        self.assert_one_line(missing, "there is no file")

    @needs_torch
    def test_a_run(self):
        with self.other.open("ab") as file:
            file.write(b"one byte more")
        run = self.run_checks("--plugin-dir", self.packs, "--plugins-lock", self.lock,
                              enable=["acme"], device="cpu",
                              env={"CHOOSING_WITNESS": self.witness})
        self.assertEqual(run.status, 3, run)
        self.assert_counts(run, refused_plugins=1)
        self.assertEqual(self.opened(), ["com.acme.ops"])
        self.assertEqual(run.plugin("acme_ops.assay.so")["sha256"],
                         hashlib.sha256(self.acme.read_bytes()).hexdigest())


class Folders(TrustTest):
    def test_the_order(self):
        own = self.home / ".local" / "share" / "assay" / "plugins"
        own.mkdir(parents=True)
        second = self.base / "second"
        second.mkdir()
        self.put("acme_ops", own)
        for folder in (self.packs, second):
            self.put("acme_ops", folder)
            self.put("other_ops", folder)
        listed = self.of_packs("--plugin-dir", second)
        status = [(record["file"], record["status"]) for record in listed.of_kind("plugin")
                  if pathlib.Path(record["file"]).name in ("acme_ops.assay.so",
                                                            "other_ops.assay.so")]
        self.assertEqual(status, [(f"{own}/acme_ops.assay.so", "loaded"),
                                  (f"{self.packs}/acme_ops.assay.so", "refused"),
                                  (f"{self.packs}/other_ops.assay.so", "loaded"),
                                  (f"{second}/acme_ops.assay.so", "refused"),
                                  (f"{second}/other_ops.assay.so", "refused")])
        built_in = [record for record in listed.of_kind("plugin")
                    if record["file"].startswith(f"{TREE}/lib/assay/plugins/")]
        self.assertEqual(listed.of_kind("plugin")[:len(built_in)], built_in)

    def test_the_users_own_folder(self):
        data = self.base / "data"
        own = data / "assay" / "plugins"
        own.mkdir(parents=True)
        self.put("acme_ops", own)
        self.assertEqual(self.catalogue(env={"XDG_DATA_HOME": data}).opened, ["com.acme.ops"])
        self.assertEqual(self.catalogue().opened, [])
        # By the XDG specification a relative one counts as none.
        self.assertEqual(self.catalogue(env={"XDG_DATA_HOME": "data"}, cwd=self.base).opened, [])

    def test_nothing_from_the_current_folder(self):
        here = self.base / "stranger"
        for folder in ("", "plugins", "lib/assay/plugins", "assay/plugins", "packs",
                       ".local/share/assay/plugins"):
            (here / folder).mkdir(parents=True, exist_ok=True)
            self.put("acme_ops", here / folder)
        for env in ({}, {"ASSAY_PLUGIN_DIR": ""}, {"ASSAY_PLUGIN_DIR": ":"},
                    {"ASSAY_PLUGIN_DIR": f":{self.packs}:"}, {"XDG_DATA_HOME": ""},
                    {"XDG_DATA_HOME": "."}, {"HOME": ""}, {"HOME": None, "XDG_DATA_HOME": None},
                    {"LD_LIBRARY_PATH": ""}, {"LD_LIBRARY_PATH": ":"}):
            with self.subTest(env):
                listed = self.catalogue(cwd=here, env=env)
                self.assertEqual(listed.opened, [], listed)
        for variable in ("ASSAY_PLUGIN_DIR", "ASSAY_PLUGINS_LOCK", "ASSAY_TORCH"):
            with self.subTest(variable):
                listed = self.assay("list", cwd=here, env={variable: "packs"})
                self.assertEqual((listed.status, listed.stdout), (2, ""))
                self.assert_one_line(listed, f"{variable}: 'packs' is relative",
                                     "write the whole path")
        # On the command line it was meant.
        self.assertEqual(self.catalogue("--plugin-dir", "packs", cwd=here).opened,
                         ["com.acme.ops"])

    @unittest.skipUnless(sys.platform == "linux", "asks /proc")
    def test_the_worker_searches_no_relative_folder(self):
        script = self.base / "prefix"
        script.write_text('#!/bin/sh\necho "$LD_LIBRARY_PATH" > "$0.seen"\nexec "$@"\n',
                          encoding="utf-8")
        script.chmod(0o755)
        for given, seen in [(f":{self.base}:lib:.:", str(self.base)), (":.:", ""), ("", "")]:
            with self.subTest(given):
                self.assay("doctor", "--probe-prefix", script, env={"LD_LIBRARY_PATH": given})
                self.assertEqual(pathlib.Path(f"{script}.seen").read_text(encoding="utf-8").strip(),
                                 seen)

    def test_no_torch_from_the_current_folder(self):
        here = self.base / "stranger"
        (here / "torch" / "lib").mkdir(parents=True)
        (here / "torch" / "__init__.py").touch()
        (here / "torch" / "version.py").write_text("__version__ = '2.11.0'\n", encoding="utf-8")
        (here / "torch" / "lib" / "libtorch_cpu.so").write_text("code", encoding="utf-8")
        tools = self.base / "tools"
        tools.mkdir()
        # A shim, so that Python itself is asked: what it prints is what `python -c` finds.
        shim = tools / "python3"
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n', encoding="utf-8")
        shim.chmod(0o755)
        shutil.copy(shim, here / "python3")
        plain = subprocess.run([shim, "-c", "import torch; print(torch.__file__)"], cwd=here,
                               capture_output=True, text=True, check=True)
        self.assertIn("stranger", os.path.abspath(here / plain.stdout.strip()), "the trap is none")
        for env in ({}, {"PYTHONPATH": "."}, {"PYTHONPATH": ":"}, {"VIRTUAL_ENV": "."}):
            with self.subTest(env):
                found = self.assay("doctor", cwd=here,
                                   env={"PATH": f"{tools}:/usr/bin:/bin", **env})
                self.assertNotIn("stranger", found.stdout + found.stderr)


if __name__ == "__main__":
    support.main()
