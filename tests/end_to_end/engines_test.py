#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LibTorch and engine: how they are found, and what is said where they cannot be used.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/engines_test.py
"""
import pathlib
import shutil
import subprocess
import unittest

import support
from support import TREE

LIBRARIES = ("libc10.so", "libtorch_cpu.so")
ONE_CHECK = ["elementwise/add"]


def built_engine():
    """(version, folder) of the tree's newest engine, or None."""
    folders = sorted((TREE / "libexec" / "assay").glob("torch-*/assay-engine.so"))
    return (folders[-1].parent.name.removeprefix("torch-"), folders[-1].parent) if folders else None


class EnginesTest(support.EndToEndTest):
    def torch(self, version, name="torch", **libraries):
        """A folder of a LibTorch: a library is a link to the file named, or empty."""
        torch = self.folder / name
        (torch / "lib").mkdir(parents=True)
        (torch / "version.py").write_text(f"__version__ = '{version}'\n")
        for library in LIBRARIES:
            target = libraries.get(library.removesuffix(".so"))
            if target:
                (torch / "lib" / library).symlink_to(target)
            else:
                (torch / "lib" / library).touch()
        return torch

    def torch_of_links(self, name="torch"):
        """One whose libraries are those of the real LibTorch, without its GPU part."""
        version, _ = built_engine()
        real = pathlib.Path(support.TORCH) / "lib"
        return self.torch(f"{version}.0", name, libc10=real / "libc10.so",
                          libtorch_cpu=real / "libtorch_cpu.so")

    def assert_cannot_start(self, run, *parts):
        """The report: its first line, one line with the reason, diagnoses if any, the summary."""
        self.assertEqual((run.status, run.stderr), (3, ""), run)
        lines = run.stdout.splitlines()
        self.assertGreaterEqual(len(lines), 4, run)
        self.assertRegex(lines[0], "^assay ")
        self.assertTrue(lines[1].startswith("LibTorch: "), run)
        self.assertEqual(lines[2], "")
        self.assertIn(lines[3:-1][:1], ([], ["Diagnoses"]), run)
        self.assertRegex(lines[-1], r"^Summary: 0/0 returned tensors \| 0 errors \| .* s$")
        for part in parts:
            self.assertEqual(lines[1].count(part), 1, run)
        if run.records:
            self.assertEqual(run.engine["status"], "failed")
            self.assertEqual("LibTorch: " + run.engine["reason"], lines[1])
            self.assert_counts(run)
            self.assertEqual(run.of_kind("schedule"), [])
            self.assertEqual({plugin["status"] for plugin in run.of_kind("plugin")}, {"loaded"})

    def compiled(self, text, target, *arguments):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("there is no C compiler cc")
        source = self.folder / "library.c"
        source.write_text(text)
        subprocess.run([compiler, "-shared", "-fPIC", source, *arguments, "-o", target],
                       check=True)

    def tree_with_engine(self, engine):
        """A copy of the tree whose only engine `engine(file)` made."""
        version, _ = built_engine()
        tree = self.folder / "tree"
        shutil.copytree(TREE / "lib" / "assay" / "plugins", tree / "lib" / "assay" / "plugins")
        folder = tree / "libexec" / "assay" / f"torch-{version}"
        folder.mkdir(parents=True)
        shutil.copy(TREE / "libexec" / "assay" / "assay-worker", folder.parent)
        (tree / "bin").mkdir()
        shutil.copy(TREE / "bin" / "assay", tree / "bin")
        engine(folder / "assay-engine.so")
        return tree

    def run_of(self, tree, *arguments, env=None):
        file = self.folder / "r.jsonl"
        done = subprocess.run([tree / "bin" / "assay", "run", "--json", file, *arguments],
                              cwd=self.folder, capture_output=True, text=True, check=False,
                              env=support.clean_environment(self.home, env),
                              timeout=support.PATIENCE)
        self.assert_valid(file)
        return support.Finished(done.returncode, done.stdout, done.stderr,
                                support.read_records(file.read_text(encoding="utf-8")))


class WithoutLibTorchTest(EnginesTest):
    def test_no_libtorch_there(self):
        for arguments, *parts in [
                (["--torch", "."], "no LibTorch in ", "(--torch)", "lib/libtorch_cpu.so"),
                (["--torch", "nowhere"], "there is no folder")]:
            run = self.assay("run", *arguments)
            self.assertEqual((run.status, run.stdout), (2, ""), run)
            self.assert_one_line(run, *parts)
        run = self.assay("run", env={"ASSAY_TORCH": self.folder})
        self.assertEqual(run.status, 2, run)
        self.assert_one_line(run, f"no LibTorch in {self.folder} (ASSAY_TORCH)")

    def test_no_version(self):
        torch = self.torch("2.99.0")
        (torch / "version.py").unlink()
        run = self.assay("run", "--torch", torch)
        self.assertEqual((run.status, run.stdout), (2, ""), run)
        self.assert_one_line(run, "does not tell its version")

    def test_no_engine_for_this_version(self):
        torch = self.torch("2.99.0")
        run = self.run_checks(torch=torch)
        self.assert_cannot_start(run, f"no engine for LibTorch 2.99.0 ({torch}, --torch)",
                                 f"tools/build-engine {torch} makes one", "; have: ")
        self.assertEqual(self.assay("list", "--torch", torch).status, 0)

    def test_no_engine_for_the_active_pythons_version(self):
        # Results of another LibTorch would mislead, so that there is no falling back.
        environment = self.folder / "venv"
        packages = environment / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        self.torch("2.99.0").rename(packages / "torch")
        run = self.run_checks(torch=None, env={"VIRTUAL_ENV": environment})
        self.assert_cannot_start(run, "no engine for LibTorch 2.99.0 ",
                                 "the active Python environment",
                                 "--torch DIR picks another LibTorch")

    @unittest.skipUnless(built_engine(), "the tree has no engine")
    def test_a_broken_libtorch(self):
        version, _ = built_engine()
        torch = self.torch(f"{version}.0")
        broken = torch / "lib" / "libc10.so"
        broken.write_text("This is a text and no library at all, though it is longer than a header.")
        for device in ("auto", "cpu", "cuda"):
            run = self.run_checks(torch=torch, device=device)
            self.assert_cannot_start(run, f"{broken} does not open: ",
                                     "--torch DIR names another LibTorch")


@support.needs_torch
class WithLibTorchTest(EnginesTest):
    def test_every_way_to_name_it(self):
        torch = self.torch_of_links()
        for name in (torch, torch / "lib", f"{torch}/", torch.parent):
            run = self.run_checks(torch=name, enable=ONE_CHECK)
            self.assertEqual(run.status, 0, run)
            self.assertEqual((run.one("run")["torch_dir"], run.one("run")["torch_found_by"]),
                             (str(torch), "--torch"))

    def test_a_gpu_part_that_does_not_open(self):
        torch = self.torch_of_links()
        part = torch / "lib" / "libtorch_cuda.so"
        needed = self.folder / "libgone.so.12"
        self.compiled("int gone;", needed, "-Wl,-soname,libgone.so.12")
        self.compiled("extern int gone; int* here(void) { return &gone; }", part, needed)
        needed.unlink()
        words = f"{part} does not open: libgone.so.12: cannot open shared object file"

        run = self.run_checks(torch=torch, device="cuda", enable=ONE_CHECK)
        self.assert_cannot_start(run, words, "--device cpu runs without it")

        run = self.run_checks(torch=torch, device="auto", enable=ONE_CHECK)
        self.assertEqual(run.status, 0, run)
        self.assertIn(f"\nThe CPU was used (--device auto): {words}", run.stdout)
        self.assertIn(words, run.engine["backend_error"])
        self.assertEqual(run.result("elementwise/add")["device"], "cpu")

        run = self.run_checks(torch=torch, device="cpu", enable=ONE_CHECK)
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("does not open", run.stdout)

    def test_the_stock_wheel_without_its_cuda_libraries(self):
        part = pathlib.Path(support.TORCH) / "lib" / "libtorch_cuda.so"
        if not part.exists():
            self.skipTest("ASSAY_TEST_TORCH is no CUDA build")
        run = self.run_checks("--full-environment", device="cuda", enable=ONE_CHECK)
        if run.status == 0:
            self.skipTest("its CUDA part works here")
        if "sees no GPU" in run.stdout:
            self.skipTest("its CUDA part opens here, there is only no GPU")
        self.assert_cannot_start(run, f"{part} does not open: lib", "--device cpu runs without it")
        run = self.run_checks(device="auto", enable=ONE_CHECK)
        self.assertEqual(run.status, 0, run)
        self.assertIn("\nThe CPU was used (--device auto): ", run.stdout)

    def test_a_libtorch_without_gpu_part(self):
        torch = self.torch_of_links()
        run = self.run_checks(torch=torch, device="cuda", enable=ONE_CHECK)
        self.assertEqual((run.status, run.stderr), (3, ""), run)
        self.assertIn("sees no GPU", run.engine["reason"])
        run = self.run_checks(torch=torch, device="auto", enable=ONE_CHECK)
        self.assertEqual(run.status, 0, run)
        self.assertIn("The CPU was used (--device auto): ", run.stdout)

    def test_a_libtorch_that_ends_the_process(self):
        torch = self.torch_of_links()
        with (torch / "version.py").open("a") as version:
            version.write("hip = '7.2'\n")
        self.compiled("""#include <stdio.h>
            #include <stdlib.h>
            __attribute__((constructor)) static void start(void) {
              fputs("planted: no driver\\n", stderr); abort(); }""",
                      torch / "lib" / "libtorch_hip.so")
        for device in ("auto", "hip:0"):
            run = self.run_checks(torch=torch, device=device, enable=ONE_CHECK)
            self.assertEqual((run.status, run.stderr), (3, ""), run)
            self.assertEqual(run.engine["reason"],
                             "opening LibTorch and its engine ended the process (SIGABRT); it "
                             "printed last: planted: no driver; --device cpu leaves "
                             "libtorch_hip.so out")
            self.assertEqual(run.stdout.splitlines()[1], "LibTorch: " + run.engine["reason"])
            self.assert_counts(run)  # no plugin is blamed
        run = self.run_checks(torch=torch, device="cpu", enable=ONE_CHECK)
        self.assertEqual(run.status, 0, run)

    def test_the_active_python_environment(self):
        environment = self.folder / "venv"
        packages = environment / "lib" / "python3.11" / "site-packages"
        packages.mkdir(parents=True)
        (packages / "torch").symlink_to(support.TORCH)
        run = self.run_checks(torch=None, device="cpu", enable=ONE_CHECK,
                              env={"VIRTUAL_ENV": environment})
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.one("run")["torch_found_by"], "the active Python environment")
        self.assertEqual(run.one("run")["torch_dir"], str(packages / "torch"))
        # What is asked for wins.
        run = self.run_checks(device="cpu", enable=ONE_CHECK, env={"VIRTUAL_ENV": environment})
        self.assertEqual(run.one("run")["torch_found_by"], "--torch")

    def test_the_engines_own_libtorch(self):
        own = (built_engine()[1] / "built-with").read_text().strip()
        if not pathlib.Path(own, "lib").is_dir():
            self.skipTest(f"{own} is gone")
        empty = self.folder / "no-python"
        empty.mkdir()
        run = self.run_checks("--full-environment", torch=None, device="cpu", enable=ONE_CHECK,
                              env={"PATH": empty})
        self.assertEqual(run.status, 0, run)
        self.assertEqual((run.one("run")["torch_dir"], run.one("run")["torch_found_by"]),
                         (own, "the engine's own"))

    def test_no_libtorch_at_all(self):
        tree = self.tree_with_engine(lambda file: shutil.copy(built_engine()[1] / file.name, file))
        empty = self.folder / "no-python"
        empty.mkdir()
        self.assert_cannot_start(self.run_of(tree, env={"PATH": empty}), "no LibTorch found: ",
                                 "--torch DIR names one")

    def test_engines_that_are_none(self):
        def another_interface(file):
            self.compiled("""static const struct { unsigned size, api; void* rest[4]; } engine =
                  {48, 999, {0}};
                const void* assay_engine_get(void) { return &engine; }""", file)
        for make, *parts in [
                (lambda file: file.write_text("no engine, but a text of some length " * 9),
                 "assay-engine.so does not open: ", "invalid ELF header"),
                (lambda file: self.compiled("int something_else;", file),
                 "assay-engine.so is no engine: it exports no assay_engine_get"),
                (another_interface, "assay-engine.so speaks interface 999, this assay 3")]:
            with self.subTest(parts[0]):
                shutil.rmtree(self.folder / "tree", ignore_errors=True)
                tree = self.tree_with_engine(make)
                run = self.run_of(tree, "--torch", support.TORCH, "--device", "cpu")
                self.assert_cannot_start(run, *parts, "build it again with tools/build-engine")

    def test_an_engine_that_ends_the_process(self):
        tree = self.tree_with_engine(lambda file: self.compiled(
            """#include <stdlib.h>
            __attribute__((constructor)) static void start(void) { abort(); }""", file))
        run = self.run_of(tree, "--torch", support.TORCH, "--device", "cpu")
        self.assert_cannot_start(run, "opening LibTorch and its engine ended the process (SIGABRT)")


if __name__ == "__main__":
    support.main()
