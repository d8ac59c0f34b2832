#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""assay new-plugin: what it writes builds outside the repository, passes its own tests and is listed.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/new_plugin_test.py
"""
import shutil
import subprocess
import unittest

import support

KINDS = {"ops": ("-DCMAKE_BUILD_TYPE=Debug", ["rope/gelu_tanh", "rope/swiglu"]),
         "toml": ("-DCMAKE_VERBOSE_MAKEFILE=NO", ["rope/gelu_tanh", "rope/swiglu"]),
         "diagnostic": ("-DCMAKE_BUILD_TYPE=Debug", ["rope.config", "rope.limit"])}


class NewPluginTest(support.SharedCeilings, support.EndToEndTest):

    def call(self, *command):
        environment = support.clean_environment(
            self.home, {"ASSAY_TORCH": support.TORCH, "XDG_CACHE_HOME": self.cache,
                        # The compiler's cache is the tester's, not of the empty home.
                        "CCACHE_DIR": None})
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=environment,
                              capture_output=True, text=True, timeout=support.PATIENCE,
                              check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def build(self, folder, option):
        """With the commands that assay new-plugin itself has named."""
        self.call("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", option,
                  f"-DCMAKE_PREFIX_PATH={support.TREE}")
        self.call("cmake", "--build", folder / "build")
        said = self.call("ctest", "--test-dir", folder / "build", "--output-on-failure")
        self.assertIn("100% tests passed", said)
        if support.TORCH:
            self.assertNotIn("Skipped", said)

    @unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no cmake or no ninja")
    def test_each_kind_builds_passes_and_is_listed(self):
        for kind, (option, listed) in KINDS.items():
            with self.subTest(kind):
                folder = self.folder / kind
                run = self.assay("new-plugin", "com.example.rope", "--kind", kind, "--dir", kind,
                                 "--vendor", "Example Ltd")
                self.assertEqual((run.status, run.stderr), (0, ""), run)
                self.assertIn(f"ctest --test-dir {folder}/build", run.stdout)
                self.assertIn(f"/bin/assay list --plugin-dir {folder}/build/plugins", run.stdout)
                self.assertTrue((folder / ".github" / "workflows" / "ci.yml").is_file())
                self.assertTrue((folder / ".gitignore").is_file())
                for file in folder.rglob("*"):
                    self.assertNotIn("@", file.name)
                    if file.is_file() and file.name != "ci.yml":
                        self.assertNotRegex(file.read_text(encoding="utf-8"), "@[a-zA-Z_]+@")
                self.build(folder, option)
                shown = self.assay("list", "--plugin-dir", folder / "build" / "plugins")
                self.assertEqual(shown.status, 0, shown)
                self.assertIn("com.example.rope", shown.stdout)
                self.assertIn("Example Ltd", shown.stdout)
                for name in listed:
                    self.assertIn(name, shown.stdout)

    def test_names(self):
        for name, better in (("Rope Ops", "rope_ops"), ("rope-ops", "rope_ops"), ("2rope", "rope"),
                             ("com.Acme.rope", "com.acme.rope"), ("../rope", "my_ops"),
                             ("norm", "my_norm"), ("", "my_ops")):
            with self.subTest(name):
                run = self.assay("new-plugin", name)
                self.assertEqual(run.status, 2, run)
                self.assert_one_line(run, better)
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_folders(self):
        taken = self.folder / "rope"
        taken.mkdir()
        self.assertEqual(self.assay("new-plugin", "rope").status, 0)
        again = self.assay("new-plugin", "rope")
        self.assertEqual(again.status, 2)
        self.assert_one_line(again, "is not empty", "--dir")
        file = self.folder / "file"
        file.touch()
        self.assertEqual(self.assay("new-plugin", "rope", "--dir", "file").status, 2)

    def test_wrong_usage(self):
        for arguments, part in (([], "needs a name"), (["a", "b"], "takes one name"),
                                (["rope", "--kind", "diagnostics"], "'diagnostic'"),
                                (["rope", "--kind"], "needs a value"),
                                (["rope", "--vendor", 'a "b"'], "without quotes")):
            with self.subTest(arguments):
                run = self.assay("new-plugin", *arguments)
                self.assertEqual(run.status, 2, run)
                self.assert_one_line(run, part)
                self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    support.main()
