#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An installation that has been moved, and what others build against it and against the build tree.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/package_test.py
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import support
from support import TREE, TORCH

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "docs" / "examples"
C_PACK = EXAMPLES / "c_pack" / "c_pack.c"


def blocks(document, language):
    """The blocks of code in a document of docs/."""
    text = (SOURCE / "docs" / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def done(*command, **more):
    """Runs a command that must succeed, and returns its standard output."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                         check=False, timeout=support.PATIENCE, **more)
    if ran.returncode != 0:
        raise AssertionError(f"{command}\n{ran.stdout}\n{ran.stderr}")
    return ran.stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        cls.home = cls.base / "home"
        cls.home.mkdir()
        # A folder that others may write would be refused: the umask must not count.
        done("sh", "-c", 'umask 002 && exec cmake --install "$0" --prefix "$1"', TREE,
             cls.base / "first")
        cls.tree = cls.base / "moved"
        (cls.base / "first").rename(cls.tree)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.base))

    def assay(self, *arguments, tree=None):
        return subprocess.run([(tree or self.tree) / "bin" / "assay", *map(str, arguments)],
                              cwd=self.folder, env=support.clean_environment(self.home),
                              capture_output=True, text=True, check=False,
                              timeout=support.PATIENCE)

    def results(self, *arguments, tree=None, torch=TORCH, expected_version=""):
        """{id: record} of a run on the CPU that ended well."""
        file = self.folder / "run.jsonl"
        ran = self.assay("run", "--torch", torch, "--device", "cpu", "--json", file, *arguments,
                         tree=tree)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        records = support.read_records(file.read_text(encoding="utf-8"))
        engine = next(record for record in records if record["record"] == "engine")
        self.assertTrue(engine["torch_version"].startswith(expected_version), engine)
        return {record["id"]: record for record in records if record["record"] == "result"}

    def configured(self, project, *definitions):
        build = self.folder / "build"
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        return build, done("cmake", "-S", project, "-B", build, *ninja,
                           *(f"-D{text}" for text in definitions))

    def c_project(self):
        project = self.folder / "project"
        project.mkdir()
        shutil.copy(C_PACK, project)
        (project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.22)
            project(c_pack LANGUAGES C)
            find_package(assay 0.1 CONFIG REQUIRED)
            assay_add_plugin(c_pack SOURCES c_pack.c OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
            file(GENERATE OUTPUT program CONTENT $<TARGET_FILE:assay::assay>)
            file(WRITE ${CMAKE_BINARY_DIR}/found "${assay_PLUGIN_DIR} ${assay_ABI_VERSION}")
            """, encoding="utf-8")
        return project

    def assert_serves(self, tree, *definitions):
        """A project in C alone finds assay in `tree`, and its pack is there in `assay list`."""
        build, _ = self.configured(self.c_project(), *definitions)
        done("cmake", "--build", build)
        self.assertEqual(os.path.realpath((build / "program").read_text()),
                         str(tree / "bin" / "assay"))
        plugin_dir, abi = (build / "found").read_text().rsplit(" ", 1)
        self.assertEqual(os.path.realpath(plugin_dir), str(tree / "lib" / "assay" / "plugins"))
        pack = self.listed(build / "plugins", tree)["com.example.c_pack"]
        self.assertEqual((pack["status"], pack["check_count"], pack["abi"]), ("loaded", 1, abi))

    def listed(self, plugin_dir, tree=None):
        """{id: record} of the plugins and rule files."""
        ran = self.assay("list", "--json", "--plugin-dir", plugin_dir, tree=tree)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        records = [json.loads(line) for line in ran.stdout.splitlines()]
        return {record["id"]: record for record in records
                if record["record"] in ("plugin", "rule_file")}

    def test_what_is_installed_knows_no_other_place(self):
        here = [str(TREE), str(SOURCE), str(self.base / "first")]
        seen = 0
        for file in self.tree.rglob("*"):
            if file.is_dir():
                self.assertEqual(file.stat().st_mode & 0o022, 0, file)
            elif ".so" not in file.suffixes and file.suffix or file.name == "copyright":
                text = file.read_text(encoding="utf-8")
                self.assertEqual([place for place in here if place in text], [], file)
                seen += 1
        self.assertGreater(seen, 20)
        for name in ("share/assay/result.schema.json", "share/doc/assay/writing-an-op-pack.md",
                     "share/doc/assay/examples/c_pack/c_pack.c", "include/assay/plugin.hpp",
                     "lib/assay/selftest/selftest.assay.so", "lib/assay/plugins/diag_rocm.assay.toml"):
            self.assertTrue((self.tree / name).is_file(), name)
        # That each compiles alone is tested of the sources (tests/sdk).
        for header in (SOURCE / "sdk" / "include" / "assay").iterdir():
            self.assertEqual((self.tree / "include" / "assay" / header.name).read_bytes(),
                             header.read_bytes())
        built = {file.name for file in (TREE / "lib" / "assay" / "plugins").glob("*.assay.*")}
        installed = {file.name for file in (self.tree / "lib" / "assay" / "plugins").iterdir()}
        self.assertEqual(installed, built)

    def test_a_package_names_no_libtorch_of_this_machine(self):
        done("cmake", "--install", TREE, "--component", "assay", "--prefix", self.folder / "packaged")
        names = {file.name for file in (self.folder / "packaged" / "libexec").rglob("*")}
        self.assertIn("assay-worker", names)
        self.assertNotIn("built-with", names)

    def test_the_packages_run_where_they_are_unpacked(self):
        """cpack's packages of the build tree. What they need of a machine is not looked at: to find out
        for the .deb takes ten seconds, and tools/package's own tree is linked in another way."""
        if not shutil.which("cpack"):
            self.skipTest("there is no cpack")
        kinds = ["TGZ"] + (["DEB"] if shutil.which("dpkg-deb") else [])
        packed = self.folder / "packed"
        done("sh", "-c", 'umask 002 && exec "$0" "$@"', "cpack", "--config",
             TREE / "CPackConfig.cmake", "-G", ";".join(kinds), "-B", packed,
             "-D", "CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
        archive, = packed.glob("assay-*.tar.gz")
        shutil.unpack_archive(archive, self.folder / "out of the archive")
        unpacked, = (self.folder / "out of the archive").iterdir()
        trees = [unpacked.rename(self.folder / "moved again")]
        if "DEB" in kinds:
            package, = packed.glob("assay_*.deb")
            self.assertEqual(done("dpkg-deb", "-f", package, "Package").strip(), "assay")
            done("dpkg-deb", "-x", package, self.folder / "root")
            self.assertEqual([file.name for file in (self.folder / "root").iterdir()], ["usr"])
            trees.append(self.folder / "root" / "usr")
        for tree in trees:
            self.assertEqual({file.name for file in (tree / "lib/assay/plugins").iterdir()},
                             {file.name for file in (self.tree / "lib/assay/plugins").iterdir()})
            listed = self.assay("list", tree=tree)
            self.assertEqual(listed.returncode, 0, listed.stdout + listed.stderr)
            self.assertNotIn(str(TREE), listed.stdout)
            if TORCH:
                results = self.results("--enable", "norm/layer_norm", tree=tree)
                self.assertEqual(results["norm/layer_norm[float32]"]["status"], "ok")

    def test_the_guide_knows_the_newest_interface(self):
        variables = (self.tree / "lib" / "pkgconfig" / "assay.pc").read_text(encoding="utf-8")
        abi = re.search(r"^abi=(\d+\.\d+)$", variables, re.MULTILINE)[1]
        guide = (self.tree / "share/doc/assay/sdk-compatibility.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^\| (\d+\.\d+) \|", guide, re.MULTILINE)[-1], abi)

    def test_the_moved_tree_lists_its_own_plugins(self):
        ran = self.assay("list", "--json")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        records = [json.loads(line) for line in ran.stdout.splitlines()]
        files = [record["file"] for record in records if record["record"] == "plugin"]
        self.assertGreater(len(files), 10)
        for file in files:
            self.assertEqual(pathlib.Path(file).parent, self.tree / "lib" / "assay" / "plugins")

    @support.needs_torch
    def test_the_moved_tree_runs(self):
        results = self.results("--enable", "elementwise/add", "--enable", "norm/layer_norm")
        self.assertEqual({id: record["status"] for id, record in results.items()},
                         {"elementwise/add[float32]": "ok", "norm/layer_norm[float32]": "ok"})

    def test_engines_for_several_libtorch_versions(self):
        """Side by side in the moved tree: the same plugin files serve each."""
        engines = {}
        for file in self.tree.glob("libexec/assay/torch-*/built-with"):
            torch = pathlib.Path(file.read_text(encoding="utf-8").strip())
            engine = file.with_name("assay-engine.so")
            if engine.exists() and (torch / "lib" / "libtorch_cpu.so").exists():
                engines[file.parent.name.removeprefix("torch-")] = torch
        if len(engines) < 2:
            self.skipTest(f"engines and LibTorch are here for {', '.join(engines) or 'no version'} "
                          "alone; tools/test-torch-versions 2.6 2.11 tries several")
        before = self.plugin_hashes()
        for version, torch in engines.items():
            results = self.results("--enable", "elementwise/add", "--enable", "norm/layer_norm",
                                   torch=torch, expected_version=version + ".")
            self.assertEqual([record["status"] for record in results.values()], ["ok", "ok"])
        self.assertEqual(self.plugin_hashes(), before)

    def plugin_hashes(self):
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
                for file in self.tree.glob("lib/assay/plugins/*")}

    def test_a_c_pack_by_the_compiler_alone(self):
        compiler = shutil.which("cc")
        if not compiler or not shutil.which("pkg-config"):
            self.skipTest("there is no cc or no pkg-config")
        for tree in (self.tree, TREE):
            plugins = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            variables = {**os.environ, "PKG_CONFIG_PATH": str(tree / "lib" / "pkgconfig")}
            done("sh", "-c", f"{compiler} -std=c11 -Wall -Wextra -Wpedantic -Werror -shared -fPIC "
                 f"$(pkg-config --cflags assay) {C_PACK} -o {plugins}/c_pack.assay.so",
                 env=variables)
            program = done("pkg-config", "--variable=program", "assay", env=variables).strip()
            self.assertEqual(os.path.realpath(program), str(tree / "bin" / "assay"))
            self.assertEqual(self.listed(plugins, tree)["com.example.c_pack"]["status"], "loaded")
        if TORCH:
            results = self.results("--plugin-dir", plugins, "--enable", "c_pack")
            self.assertEqual(results["c_pack/linear_gelu[float32]"]["status"], "ok")

    def test_an_installation_serves_cmake(self):
        self.assert_serves(self.tree, f"CMAKE_PREFIX_PATH={self.tree}")

    def test_the_build_tree_serves_cmake(self):
        self.assert_serves(TREE, f"assay_DIR={TREE}/lib/cmake/assay")

    def test_the_examples(self):
        """The packs of docs/examples and of the guide, built against the installation and held to
        their own tests."""
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.22)
            project(examples LANGUAGES CXX)
            enable_testing()
            add_subdirectory({EXAMPLES}/llm_ops llm_ops)
            add_subdirectory({EXAMPLES}/diag_container diag_container)
            add_subdirectory(mypack)
            """, encoding="utf-8")
        # What writing-an-op-pack.md begins with, word for word.
        (project / "mypack").mkdir()
        (project / "mypack" / "mypack.cpp").write_text(blocks("writing-an-op-pack.md", "cpp")[0])
        (project / "mypack" / "CMakeLists.txt").write_text(
            blocks("writing-an-op-pack.md", "cmake")[0])
        ccache = shutil.which("ccache")
        build, _ = self.configured(project, f"CMAKE_PREFIX_PATH={self.tree}",
                                   "CMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Wpedantic -Werror",
                                   "CMAKE_UNITY_BUILD=ON",
                                   f"CMAKE_CXX_COMPILER_LAUNCHER={ccache or ''}")
        done("cmake", "--build", build, env={**os.environ, "CCACHE_BASEDIR": str(self.base),
                                             "CCACHE_NOHASHDIR": "1"})
        variables = {"ASSAY_TORCH": TORCH} if TORCH else {}
        left_out = [] if TORCH else ["-E", "^(llm_ops|mypack)"]
        said = done("ctest", "--test-dir", build, "--output-on-failure", "--parallel", "2",
                    *left_out, env=support.clean_environment(self.home, variables))
        self.assertRegex(said, "100% tests passed, 0 tests failed out of (1[4-9]|[2-9][0-9])")
        done("cmake", "--install", build, "--prefix", self.folder / "installed")
        self.assertEqual(
            {file.name for file in (self.folder / "installed/lib/assay/plugins").iterdir()},
            {"llm_ops.assay.so", "mypack.assay.so", "com.example.diag_container.assay.so",
             "com.example.diag_container.assay.toml"})

    def test_the_code_in_the_guides_compiles(self):
        compiler = shutil.which("c++")
        if not compiler:
            self.skipTest("there is no c++")
        outside, inside = "", ""
        for block in blocks("writing-an-op-pack.md", "cpp")[1:]:
            before, comment, after = block.rpartition("// in the body of ASSAY_PLUGIN")
            outside += before
            inside += f"{{ {after} }}\n" if comment else f"{{ {block} }}\n"
        probe, = (block for block in blocks("writing-a-diagnostic-plugin.md", "cpp")
                  if block.startswith("class"))
        source = self.folder / "guides.cpp"
        source.write_text(f"""#include <assay/plugin.hpp>
            using namespace assay;
            {outside}
            void all(registry& plugin) {{ auto& group = plugin.category("c", "s"); {inside} }}
            {probe}
            std::unique_ptr<assay::probe> made() {{ return std::make_unique<driver_loaded>(); }}
            """, encoding="utf-8")
        done(compiler, "-std=c++20", "-fsyntax-only", "-I", self.tree / "include", source)


if __name__ == "__main__":
    support.main()
