#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line on the built program: help, mistakes, where options come from, output.

    ASSAY_TEST_TREE=build ASSAY_TEST_TORCH=/path/to/torch tests/end_to_end/commands_test.py
"""
import json
import os
import pathlib
import pty
import re
import select
import shutil
import statistics
import subprocess
import time
import xml.etree.ElementTree

import support
from support import BAD_PLUGINS, TREE

OPTIONS_DOC = pathlib.Path(__file__).resolve().parents[2] / "docs" / "options.md"
PROJECT_KEYS = ["device", "enable", "disable", "profile", "dtype", "timeout", "measure-limit",
                "seed", "repeat-neighbours", "no-evidence", "refresh-ceilings", "baseline", "sizes",
                "split", "trace-libs", "probe-timeout", "no-color"]
CHECK_COUNT = 55
COMMANDS = ("run", "list", "show", "selftest", "explain", "doctor")


def documented_options(own=True):
    """{option: the subcommands that have it}, from the tables of docs/options.md. `own`: also those
    that stand on the command line alone."""
    options = {}
    for line in OPTIONS_DOC.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = re.match(r"`--([a-z-]+)", cells[0])
        if match and (len(cells) == 5 or (own and len(cells) == 3)):
            of = cells[1 if len(cells) == 3 else 3]
            options.setdefault(match[1], set()).update(
                COMMANDS if of == "all" else of.split(", "))
    return options


class HelpTest(support.EndToEndTest):
    def test_version_is_fast(self):
        seconds = []
        for _ in range(20):
            begin = time.perf_counter()
            run = self.assay("--version")
            seconds.append(time.perf_counter() - begin)
            self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"\Aassay \d+\.\d+\.\d+ \(plugin ABI \d+\.\d+\)\n")
        median = statistics.median(seconds)
        print(f"assay --version: median of 20: {1000 * median:.1f} ms")
        self.assertLess(median, 0.2)

    def test_help_names_every_documented_option(self):
        options = documented_options()
        self.assertGreater(len(options), 10)
        for command in COMMANDS:
            for flag in ("--help", "-h"):
                run = self.assay(command, flag)
                self.assertEqual((run.status, run.stderr), (0, ""), run)
            named = set(re.findall(r"^  (?:-h \[ )?--([a-z-]+)", run.stdout, re.MULTILINE))
            expected = {name for name, commands in options.items() if command in commands}
            self.assertEqual(named, expected, command)

    def test_the_selftests_own_default(self):
        self.assertIn("(120; selftest: 10)", " ".join(self.assay("selftest", "--help").stdout.split()))

    def test_general_help(self):
        for flag in ("--help", "-h"):
            run = self.assay(flag)
            self.assertEqual((run.status, run.stderr), (0, ""))
            for command in COMMANDS:
                self.assertIn(f"\n  {command} ", run.stdout)
        bare = self.assay()
        self.assertEqual((bare.status, bare.stdout, bare.stderr), (2, "", run.stdout))


class MistakesTest(support.EndToEndTest):
    def assert_usage(self, arguments, *parts, **more):
        with self.subTest(" ".join(map(str, arguments)) + " " + " ".join(parts)):
            run = self.assay(*arguments, **more)
            self.assertEqual((run.status, run.stdout), (2, ""), run)
            self.assert_one_line(run, *parts)

    def test_on_the_command_line(self):
        for words, *parts in [
                ("rnu", "unknown command 'rnu'", "did you mean 'run'?"),
                ("lst", "did you mean 'list'?"),
                ("nonsense", "unknown command 'nonsense'", "assay --help"),
                ("--device cpu", "assay run --device"),
                ("run --devcie cpu", "unknown option --devcie", "did you mean '--device'?"),
                ("run --enabel conv", "did you mean '--enable'?"),
                ("list --device cpu", "assay list has no option --device"),
                ("show conv/conv2d --pyhton", "did you mean '--python'?"),
                ("run --device", "--device needs a value: --device D"),
                ("run --device --json x", "--device needs a value"),
                ("run --device cpu --device cpu", "given twice"),
                ("run --device cup", "unknown device 'cup'", "did you mean 'cpu'?"),
                ("run --device rocm", "did you mean 'hip'?"),
                ("run --device cuda:x", "cuda:N"),
                ("run --profile quik", "did you mean 'quick'?"),
                ("run --dtype flaot32", "did you mean 'float32'?"),
                ("run --dtype float16,flaot32", "did you mean 'float32'?"),
                ("run --timeout soon", "is not a number of seconds"),
                ("run --timeout 0", "out of range"),
                ("run --seed -1", "is not a whole number"),
                ("run --seed 18446744073709551616", "too large"),
                ("run --plugin-dir nowhere", "there is no folder", "nowhere"),
                ("run --torch nowhere", "there is no folder", "nowhere"),
                ("run --json .", "is a folder"),
                ("run --json nowhere/x", "there is no folder"),
                ("run --junit -", "cannot go to standard output"),
                ("run conv", "assay run --enable conv"),
                ("show", "assay show CHECK"),
                ("show conv/conv2", "there is no check 'conv/conv2'", "did you mean 'conv/conv2d'?"),
                ("show conv/conv2d[float46]", "did you mean 'float16'?"),
                ("show conv/conv2d conv/conv1d", "one check"),
                ("run --trust-plugins=perhaps", "neither yes nor no")]:
            self.assert_usage(words.split(), *parts)

    def test_unknown_globs(self):
        for arguments, *parts in [
                (["list", "--enable", "elementwise/ad"], "did you mean 'elementwise/add'?"),
                (["run", "--list-only", "--enable", "cnov"], "--enable 'cnov'",
                 "did you mean 'conv'?"),
                (["run", "--list-only", "--disable", "qqqq"], "--disable 'qqqq'",
                 "'assay list' shows what there is")]:
            self.assert_usage(arguments, "matches no category and no check", *parts)

    def test_an_unknown_glob_leaves_the_last_result_file_alone(self):
        file = self.folder / "last.jsonl"
        self.assay("run", "--torch", self.fake_torch(), "--json", file)
        before = file.read_text()
        self.assertIn('"record":"summary"', before)
        self.assert_usage(["run", "--list-only", "--json", file, "--enable", "qqqq"], "qqqq")
        self.assertEqual(file.read_text(), before)

    def fake_torch(self):
        torch = self.folder / "torch"
        (torch / "lib").mkdir(parents=True, exist_ok=True)
        for name in ("libc10.so", "libtorch_cpu.so"):
            (torch / "lib" / name).touch()
        (torch / "version.py").write_text("__version__ = '2.99.0'\n")
        return torch

    def test_in_the_environment(self):
        self.assert_usage(["run"], "unknown environment variable ASSAY_DEVCIE",
                          "did you mean 'ASSAY_DEVICE'?", env={"ASSAY_DEVCIE": "cpu"})
        self.assert_usage(["list"], "unknown environment variable", env={"ASSAY_QQQQQQ": "1"})
        self.assert_usage(["run"], "ASSAY_DEVICE: unknown device 'cup'",
                          env={"ASSAY_DEVICE": "cup"})
        # Another subcommand's variable is not looked at; an empty one counts as none.
        self.assertEqual(self.assay("list", env={"ASSAY_DEVICE": "cup"}).status, 0)
        self.assertEqual(self.assay("list", env={"ASSAY_ENABLE": ""}).status, 0)

    def test_in_a_configuration_file(self):
        config = self.folder / "my.ini"
        for text, *parts in [("devcie = cpu", "unknown key 'devcie'", "did you mean 'device'?"),
                             ("config = other.ini", "cannot name another one"),
                             ("device = cup", "unknown device 'cup'"),
                             ("device", "cannot read the line", "key = value"),
                             ("[run]\ndevice = cpu", "section [run]"),
                             ("seed = 1\nseed = 2", "given twice")]:
            config.write_text(text + "\n")
            self.assert_usage(["run", "--config", config], str(config), *parts)
        self.assert_usage(["run", "--config", "none.ini"], "none.ini", "there is no such file")

    def test_an_assay_ini_that_is_a_pipe_is_not_waited_for(self):
        os.mkfifo(self.folder / "assay.ini")
        self.assert_usage(["run", "--list-only"], "assay.ini is no ordinary file")

    def test_a_lost_answer_is_no_success(self):
        for arguments in (["list"], ["show", "conv/conv2d", "--python"], ["--version"]):
            with open("/dev/full", "w") as full:
                ended = subprocess.run([support.ASSAY, *arguments], stdout=full,
                                       stderr=subprocess.PIPE, text=True,
                                       env=support.clean_environment(self.folder))
            self.assertEqual(ended.returncode, 3, arguments)
            self.assertIn("standard output could not be written", ended.stderr)

    def test_a_strangers_assay_ini_names_no_code(self):
        for key in [name for name in documented_options(own=False) if name not in PROJECT_KEYS + ["config"]]:
            value = "yes" if key in ("trust-plugins", "list-only") else "."
            (self.folder / "assay.ini").write_text(f"{key} = {value}\n")
            for arguments in (["run"], ["list"], ["show", "conv/conv2d"]):
                self.assert_usage(arguments, f"'{key}' may not stand in a folder's own assay.ini",
                                  f"--{key}", f"ASSAY_{key.upper().replace('-', '_')}")
            # The same file is not restricted once it is named.
            if key in ("plugins-lock", "set", "trace"):
                self.assert_usage(["show", "conv/conv2d", "--config", "assay.ini"], "'.'" if key == "set"
                                  else "no ordinary file")
                continue
            self.assertEqual(self.assay("show", "conv/conv2d", "--config", "assay.ini").status, 0,
                             key)


class PrecedenceTest(support.EndToEndTest):
    """Which place won, by the `run` record; a LibTorch without an engine keeps it short."""

    def settings(self, *arguments, env=None):
        torch = MistakesTest.fake_torch(self)
        run = self.assay("run", "--torch", torch, "--json", "r.jsonl", *arguments, env=env)
        self.assertEqual(run.status, 3, run)
        return run.one("run")["options"]

    def test_each_place_wins_over_those_below_it(self):
        user = self.home / ".config" / "assay"
        user.mkdir(parents=True)
        named = self.folder / "named.ini"
        places = [("user configuration", lambda: (user / "assay.ini").write_text("seed = 1\n")),
                  ("./assay.ini", lambda: (self.folder / "assay.ini").write_text("seed = 2\n")),
                  ("--config", lambda: named.write_text("seed = 3\n"))]
        self.assertEqual(self.settings()["seed"], {"value": "0", "source": "built in"})
        for number, (source, write) in enumerate(places, 1):
            write()
            arguments = ["--config", named] if named.exists() else []
            self.assertEqual(self.settings(*arguments)["seed"],
                             {"value": str(number), "source": source})
        by_variable = {"ASSAY_SEED": "4", "ASSAY_CONFIG": named}
        self.assertEqual(self.settings(env=by_variable)["seed"],
                         {"value": "4", "source": "environment"})
        self.assertEqual(self.settings("--seed", "5", env=by_variable)["seed"],
                         {"value": "5", "source": "command line"})

    def test_lists_are_not_put_together(self):
        (self.folder / "assay.ini").write_text("enable = conv, norm\ndisable = linear\n")
        options = self.settings("--enable", "tensor", env={"ASSAY_ENABLE": "reduction,indexing"})
        self.assertEqual(options["enable"], {"value": "tensor", "source": "command line"})
        self.assertEqual(options["disable"], {"value": "linear", "source": "./assay.ini"})
        options = self.settings(env={"ASSAY_ENABLE": "reduction,indexing"})
        self.assertEqual(options["enable"], {"value": "reduction,indexing",
                                             "source": "environment"})

    def test_every_option_is_in_the_run_record(self):
        expected = {name for name, commands in documented_options(own=False).items() if "run" in commands}
        self.assertEqual(set(self.settings()), expected)

    def test_paths_of_a_configuration_start_from_its_folder(self):
        packs = self.folder / "conf" / "packs"
        packs.mkdir(parents=True)
        (packs.parent / "c.ini").write_text("plugin-dir = packs\n")
        self.assertEqual(self.settings("--config", "conf/c.ini")["plugin-dir"],
                         {"value": str(packs), "source": "--config"})


class ListAndShowTest(support.EndToEndTest):
    def checks(self):
        listed = self.assay("list", "--json")
        self.assertEqual((listed.status, listed.stderr), (0, ""))
        records = [json.loads(line) for line in listed.stdout.splitlines()]
        return [record for record in records if record["record"] == "check"]

    def test_list_only(self):
        everything = self.assay("run", "--list-only")
        self.assertEqual((everything.status, everything.stderr), (0, ""))
        self.assertEqual(len(everything.stdout.splitlines()), CHECK_COUNT)
        some = self.assay("run", "--list-only", "--enable", "linear/linear*", "--disable",
                          "*[b*16]")
        self.assertEqual(some.stdout, "linear/linear[float32]\nlinear/linear_fp16[float16]\n")
        double = self.assay("run", "--list-only", "--enable", "norm", "--dtype", "fp64")
        self.assertEqual(len(double.stdout.splitlines()), 5)
        self.assertTrue(all(id.endswith("[float64]") for id in double.stdout.splitlines()))
        named = self.assay("run", "--list-only", "--enable", "linear/mm[float64]", "--enable",
                           "norm/layer_norm", "--enable", "norm/layer_norm[*16]")
        self.assertEqual(named.stdout, "linear/mm[float64]\nnorm/layer_norm[float32]\n"
                         "norm/layer_norm[float16]\nnorm/layer_norm[bfloat16]\n")
        none = self.assay("run", "--list-only", "--enable", "norm", "--disable", "norm")
        self.assertEqual((none.status, none.stdout), (4, ""))

    def test_list_counts(self):
        self.assertEqual(len(self.checks()), CHECK_COUNT)
        text = self.assay("list")
        self.assertEqual((text.status, text.stderr), (0, ""))
        self.assertEqual(len(re.findall(r"^    [a-z]+/", text.stdout, re.MULTILINE)), CHECK_COUNT)

    def test_show(self):
        conv = self.assay("show", "conv/conv2d[bfloat16]")
        self.assertEqual(conv.stdout, """\
conv/conv2d[bfloat16], of plugin conv

inputs
  in0 = bfloat16 [8, 64, 56, 56], normal: mean 0, deviation 1
  in1 = bfloat16 [64, 64, 3, 3], normal: mean 0, deviation 1

plan
  r0 = aten::conv2d(in0, in1, padding=1)

output: every tensor of r0
dtypes: float32, float16, bfloat16, float64
""")
        for check, part in [("indexing/embedding", "whole numbers in [0, "),
                            ("reduction/topk", "aten::topk(in0"),
                            ("elementwise/where", "aten::where.self(r0, in0, in1)")]:
            run = self.assay("show", check)
            self.assertEqual((run.status, run.stderr), (0, ""))
            self.assertIn(part, run.stdout)

    def test_python_compiles_for_every_check(self):
        checks = self.checks()
        self.assertEqual(len(checks), CHECK_COUNT)
        for check in checks:
            with self.subTest(check["check"]):
                run = self.assay("show", check["check"], "--python", "--seed", "7")
                self.assertEqual((run.status, run.stderr), (0, ""))
                compile(run.stdout, check["check"], "exec")

    def test_a_tree_without_engine_lists_and_shows(self):
        moved = self.moved_tree(engines=False)
        listed = self.assay_of(moved, "list")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        self.assertTrue(listed.stdout.endswith("Engines\n  none\n"), listed.stdout)
        self.assertIn(f"no engine in {moved}/libexec/assay",
                      self.assay_of(moved, "--version").stdout)
        self.assertEqual(self.assay_of(moved, "show", "conv/conv2d").returncode, 0)
        run = self.assay_of(moved, "run")
        self.assertEqual((run.returncode, run.stderr), (3, ""))
        self.assertEqual(len(run.stdout.splitlines()), 4, run.stdout)
        self.assertIn("LibTorch: no ", run.stdout)

    def test_a_tree_without_plugins(self):
        moved = self.moved_tree(engines=False)
        shutil.rmtree(moved / "lib")
        listed = self.assay_of(moved, "list")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        self.assertIn("Plugins\n  none\n", listed.stdout)

    @support.needs_torch
    def test_the_whole_tree_moved_lists_and_runs(self):
        moved = self.moved_tree(engines=True)
        self.assertEqual(self.assay_of(moved, "list").returncode, 0)
        run = self.assay_of(moved, "run", "--device", "cpu", "--torch", support.TORCH, "--enable",
                            "elementwise/add")
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        # And started through a link.
        (self.folder / "link").symlink_to(moved / "bin" / "assay")
        linked = subprocess.run([self.folder / "link", "list"], capture_output=True, text=True,
                                env=support.clean_environment(self.home), check=False)
        self.assertEqual(linked.returncode, 0, linked.stderr)
        self.assertIn("activation/relu", linked.stdout)

    def moved_tree(self, engines):
        moved = self.folder / "moved here"
        shutil.copytree(TREE / "lib" / "assay", moved / "lib" / "assay")
        shutil.copytree(TREE / "libexec" / "assay", moved / "libexec" / "assay",
                        ignore=None if engines else shutil.ignore_patterns("torch-*"))
        (moved / "bin").mkdir()
        shutil.copy(TREE / "bin" / "assay", moved / "bin")
        return moved

    def assay_of(self, tree, *arguments):
        return subprocess.run([tree / "bin" / "assay", *arguments], capture_output=True, text=True,
                              cwd=self.folder, env=support.clean_environment(self.home),
                              timeout=support.PATIENCE, check=False)

    def test_neither_program_is_linked_to_libtorch(self):
        readelf = shutil.which("readelf")
        if not readelf:
            self.skipTest("there is no readelf (binutils)")
        for program in (TREE / "bin" / "assay", TREE / "libexec" / "assay" / "assay-worker"):
            section = subprocess.run([readelf, "-d", program], capture_output=True, text=True,
                                     check=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", section)
            self.assertIn("libc.so.6", needed)
            self.assertEqual([name for name in needed if "torch" in name or "c10" in name], [])


@support.needs_torch
class OutputTest(support.EndToEndTest):
    CHECKS = ["elementwise/add", "elementwise/mul"]

    def test_no_escape_codes_in_a_pipe(self):
        run = self.run_checks(device="cpu", enable=self.CHECKS)
        self.assertEqual((run.status, run.stderr), (0, ""))
        self.assertNotIn("\x1b", run.stdout)
        self.assertNotIn("\r", run.stdout)

    def test_json_to_standard_output_is_alone_there(self):
        run = self.assay("run", "--json", "-", "--torch", support.TORCH, "--device", "cpu",
                         "--enable", "elementwise/add")
        self.assertEqual(run.status, 0, run)
        for line in run.stdout.splitlines():
            self.assertIn("record", json.loads(line))
        self.assertEqual(run.result("elementwise/add")["status"], "ok")
        self.assertIn("\nelementwise/add[float32]  pass ", run.stderr)
        self.assertEqual(run.stderr.splitlines()[-1], run.summary["text"])

    def test_junit_has_the_right_counts(self):
        file = self.folder / "report.xml"
        run = self.run_checks("--junit", file, "--plugin-dir", BAD_PLUGINS / "bad_operator",
                              "--plugin-dir", BAD_PLUGINS / "empty", device="cpu",
                              enable=[*self.CHECKS, "good"])
        self.assertEqual(run.status, 3, run)
        root = xml.etree.ElementTree.parse(file).getroot()
        self.assertEqual({name: root.get(name) for name in
                          ("tests", "failures", "errors", "skipped")},
                         {"tests": "5", "failures": "0", "errors": "1", "skipped": "1"})
        suites = {suite.get("name"): suite for suite in root}
        self.assertEqual(set(suites), {"elementwise", "good", "plugins"})
        for suite in suites.values():
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
        self.assertEqual(len(root.findall(".//testcase/skipped")), 1)
        self.assertEqual(len(root.findall(".//testcase/error")), 1)

    def test_junit_replaces_no_pipe_and_no_link(self):
        target = self.folder / "target.xml"
        target.write_text("old")
        link = self.folder / "link.xml"
        link.symlink_to(target)
        self.run_checks("--junit", link, device="cpu", enable=self.CHECKS[:1])
        self.assertTrue(link.is_symlink())
        self.assertIn("<testsuites", target.read_text())
        pipe = self.folder / "pipe.xml"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            self.run_checks("--junit", pipe, device="cpu", enable=self.CHECKS[:1])
            self.assertIn(b"<testsuites", os.read(reader, 100))
            self.assertTrue(pipe.is_fifo())
        finally:
            os.close(reader)

    def on_a_terminal(self, *arguments, env=None):
        """What assay writes to a terminal of 100 columns."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(support.ASSAY, [str(support.ASSAY), *map(str, arguments)],
                      support.clean_environment(self.home, {"TERM": "xterm", "COLUMNS": "100",
                                                            **(env or {})}))
        text = b""
        deadline = time.monotonic() + support.PATIENCE
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    part = os.read(terminal, 65536)
                except OSError:
                    break
                if not part:
                    break
                text += part
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), text.decode().replace("\r\n", "\n")

    def test_a_terminal_has_progress_and_colour(self):
        status, text = self.on_a_terminal(
            "run", "--torch", support.TORCH, "--device", "cpu", "--enable", self.CHECKS[0],
            "--enable", self.CHECKS[1])
        self.assertEqual(status, 0, text)
        progress, table = text[:text.index("assay 0")], text[text.index("assay 0"):]
        steps = [step.rstrip() for step in progress.split("\r")]
        for step in ("loading plugins and LibTorch", "[1/2] elementwise/add[float32] on cpu",
                     "[2/2] elementwise/mul[float32] on cpu"):
            self.assertIn(step, steps)
        # Erased: the last thing is a line of blanks, and the cursor is back at its beginning.
        self.assertTrue(progress.endswith("\r"), repr(progress))
        self.assertEqual(progress.split("\r")[-2].strip(), "")
        self.assertNotIn("\x1b", progress)
        self.assertIn("  \x1b[32mpass\x1b[0m  ", table)
        self.assertNotIn("\r", table)

    def test_colour_can_be_declined(self):
        arguments = ["run", "--torch", support.TORCH, "--device", "cpu", "--enable",
                     self.CHECKS[0]]
        for more, env in [(["--no-color"], {}), ([], {"NO_COLOR": "1"}),
                          ([], {"ASSAY_NO_COLOR": "true"})]:
            status, text = self.on_a_terminal(*arguments, *more, env=env)
            self.assertEqual(status, 0, text)
            self.assertNotIn("\x1b", text, (more, env))
        _, text = self.on_a_terminal(*arguments, env={"NO_COLOR": "1", "ASSAY_NO_COLOR": "false"})
        self.assertIn("\x1b[32m", text)


if __name__ == "__main__":
    support.main()
