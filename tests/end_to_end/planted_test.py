# SPDX-License-Identifier: Apache-2.0
"""Each planted fault, between innocent checks: what is said of it, and that the others still run."""
import re
import unittest

import support

BEFORE = ["elementwise/add[float32]", "linear/mm[float32]"]
AFTER = "good/fine[float32]"
NEIGHBOUR = BEFORE[-1]
PRINTED_LINE = "planted: what an operator prints in its spare time, often\n"


class PlantedFaults:
    """The tests, for one device."""

    torch = None
    device = ""

    def around(self, *faults, arguments=()):
        """Runs faults between innocent checks, and looks at all that is not the faults' own."""
        run = self.run_checks("--plugin-dir", support.BAD_PLUGINS / "good", *arguments,
                              torch=self.torch, device=self.device, planted=True,
                              enable=["elementwise/add", "linear/mm", "good/fine",
                                      *(f"planted/{fault}" for fault in faults)])
        expected = [*BEFORE, *(f"planted/{fault}[float32]" for fault in faults), AFTER]
        self.assertEqual([result["id"] for result in run.results], expected, run)
        self.assertEqual(run.one("schedule")["checks"],
                         [{"id": id, "device": self.device} for id in expected])
        for id in [*BEFORE, AFTER]:
            self.assert_fine(run, run.result(id))
            self.assertEqual(run.result(id)["note"], "", run)
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.summary["checks"], len(expected))
        return run

    def assert_fine(self, run, result):
        self.assertEqual(
            (result["status"], result["phase"], result["on_device"], result["error"],
             result["signal"], result["exit_code"], result["poisoned"], result["device"]),
            ("ok", "done", True, None, None, None, False, self.device), run)
        self.assertEqual({output["device"] for output in result["outputs"]}, {self.device}, run)
        self.assertGreater(result["timing"]["first_call_us"], 0)
        if result["repeat_of"] is None:
            self.assertRegex(run.row(result["id"]),
                             rf"^\S+ ok {self.device}( [0-9.]+){{2}} (-|(<=)?[0-9.]+) [0-9.]+\b")

    def assert_fault(self, run, fault, **expected):
        """What a result without an output has in common, and what is expected of this one."""
        result = run.result(f"planted/{fault}")
        expected = {"phase": "first_call", "outputs": [], "on_device": None, "timing": None,
                    "warnings": [], "poisoned": False, "signal": None, "exit_code": None,
                    "stdout": "", "stderr": "", "stdout_bytes": 0, "stderr_bytes": 0,
                    "repeat_of": None, **expected}
        self.assertEqual({name: result[name] for name in expected}, expected, run)
        self.assertEqual(run.row(result["id"]),
                         f"{result['id']} {result['status']} - - - - - {result['note']}")
        return result

    def details(self, run, fault):
        return run.details(f"planted/{fault}[float32]", self.device)

    def assert_one_worker(self, run):
        self.assertEqual({result["worker"] for result in run.results}, {1}, run)
        self.assertEqual(run.repeats, [], run)
        self.assertEqual(run.of_kind("worker"), [], run)

    def assert_replaced(self, run, worker, fault, did, neighbour, **ended):
        """`worker` ended with the fault; the next one repeated the neighbour, which is fine."""
        id = f"planted/{fault}[float32]"
        self.assertEqual(run.result(id)["worker"], worker, run)
        record = next(r for r in run.of_kind("worker") if r["worker"] == worker)
        expected = {"signal": None, "exit_code": None, **ended}
        self.assertEqual({name: record[name] for name in expected}, expected, run)
        repeat = next(r for r in run.repeats if r["worker"] == worker + 1)
        self.assertEqual((repeat["id"], repeat["repeat_of"]), (neighbour, f"{id} {did}"), run)
        self.assert_fine(run, repeat)
        self.assertIn(f"  repeated: {neighbour} on {self.device}: ok ({id} {did})\n",
                      self.details(run, fault) + "\n")

    def crash(self, fault, message, end, signal=None, exit_code=None):
        run = self.around(fault)
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, crashes=1, on_device=3)
        self.assert_fault(run, fault, status="crash", signal=signal, exit_code=exit_code,
                          error={"type": "crash", "message": message, "trace": None},
                          note=f"{message} (first_call)", extra_threads=None)
        self.assertTrue(self.details(run, fault).startswith(
            f"  crash in phase first_call: {end}\n"
            f"  error crash in phase first_call:\n    {message}\n"), run)
        self.assertEqual(len(run.of_kind("worker")), 1)
        self.assertEqual(len(run.repeats), 1)
        self.assertEqual(run.result(AFTER)["worker"], 2)
        self.assert_replaced(run, 1, fault, "crashed", NEIGHBOUR, signal=signal,
                             exit_code=exit_code, reason=f"planted/{fault}[float32] ended it")

    def test_aborts(self):
        self.crash("aborts", "the process died of SIGABRT", "SIGABRT (6)",
                   signal={"number": 6, "name": "SIGABRT"})

    def test_segfaults(self):
        self.crash("segfaults", "the process died of SIGSEGV", "SIGSEGV (11)",
                   signal={"number": 11, "name": "SIGSEGV"})

    def test_exits(self):
        """exit(0) in an operator is no success."""
        self.crash("exits", "the process ended itself with exit status 0", "exit code 0",
                   exit_code=0)

    def test_errors(self):
        run = self.around("throws", "throws_nonstd", "out_of_memory")
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, errors=3, on_device=3)
        self.assert_one_worker(run)
        expected = {"throws": ("c10::Error", "planted: this operator always fails"),
                    "throws_nonstd": ("unknown", "the operator threw something that is not a "
                                                 "std::exception")}
        for fault, (kind, message) in expected.items():
            result = self.assert_fault(run, fault, status="error", extra_threads=0,
                                       note=f"{message} (first_call)")
            self.assertEqual((result["error"]["type"], result["error"]["message"]),
                             (kind, message))
            self.assertEqual(self.details(run, fault),
                             f"  error {kind} in phase first_call:\n    {message}")
        self.assertIn("planted_operators.cpp", run.result("planted/throws")["error"]["trace"])
        self.assertIsNone(run.result("planted/throws_nonstd")["error"]["trace"])

        memory = run.result("planted/out_of_memory")
        message = memory["error"]["message"]
        self.assert_fault(run, "out_of_memory", status="error", note=f"{message} (first_call)")
        self.assertIn("you tried to allocate 268435456 bytes", message)
        self.assertIn(message, self.details(run, "out_of_memory"))

    def test_no_faults(self):
        """What deserves a word and is no failure; and an output on the CPU, which is one on a GPU."""
        run = self.around("fine", "returns_cpu", "warns", "leaves_thread")
        on_cpu = self.device == "cpu"
        self.assertEqual(run.status, 0 if on_cpu else 1, run)
        self.assert_counts(run, warnings=1, on_device=7 if on_cpu else 6)
        self.assert_one_worker(run)
        for fault in ("fine", "warns", "leaves_thread"):
            self.assert_fine(run, run.result(f"planted/{fault}"))

        fine = run.result("planted/fine")
        self.assertEqual((fine["note"], fine["warnings"], fine["extra_threads"]), ("", [], 0), run)
        self.assertEqual(self.details(run, "fine"), "")

        warns = run.result("planted/warns")
        self.assertEqual(warns["note"], "1 warning")
        self.assertTrue(run.row("planted/warns[float32]").endswith(" 1 warning"), run)
        [warning] = warns["warnings"]
        self.assertEqual(warning["text"], "planted: this operator is not what it seems")
        self.assertRegex(warning["source"], r"planted_operators\.cpp:\d+$")
        calls = warns["timing"]["warm_up_calls"] + warns["timing"]["calls"]
        if on_cpu:
            self.assertEqual(warning["count"], calls)
        else:  # and those that the device timed
            self.assertGreater(warning["count"], calls)
        self.assertEqual(self.details(run, "warns"),
                         f"  warning, {warning['count']} times, from {warning['source']}:\n"
                         "    planted: this operator is not what it seems")

        thread = run.result("planted/leaves_thread")
        self.assertEqual((thread["extra_threads"], thread["note"]), (1, "left 1 thread running"))
        self.assertTrue(run.row(thread["id"]).endswith(" left 1 thread running"), run)

        moved = run.result("planted/returns_cpu")
        self.assertEqual(moved["outputs"],
                         [{"device": "cpu", "dtype": "float32", "shape": [8, 8],
                           "strides": [8, 1]}])
        self.assertEqual((moved["status"], moved["on_device"]), ("ok", on_cpu))
        if not on_cpu:
            self.assertEqual(moved["note"], "output on cpu, not on cuda:0")
            self.assertRegex(run.row(moved["id"]), r" ok cpu! .* output on cpu, not on cuda:0$")
            self.assertIn("!: the output is not on the device that was asked for.", run.stdout)
            self.assertTrue(run.summary["text"].startswith("Summary: 6/7 returned cuda tensors"))

    def test_prints(self):
        run = self.around("prints_stderr", "prints_stdout", arguments=["--profile", "quick"])
        self.assertEqual(run.status, 0, run)
        self.assert_counts(run, on_device=5)
        self.assert_one_worker(run)
        for stream, other in (("stderr", "stdout"), ("stdout", "stderr")):
            id = f"planted/prints_{stream}[float32]"
            result = run.result(id)
            self.assert_fine(run, result)
            self.assertEqual((result[f"{other}_bytes"], result[other]), (0, ""))
            printed = result[f"{stream}_bytes"]
            calls = result["timing"]["warm_up_calls"] + result["timing"]["calls"]
            self.assertEqual(printed % 10_000_000, 0)
            if self.device == "cpu":
                self.assertEqual(printed, calls * 10_000_000)
            else:
                self.assertGreater(printed, calls * 10_000_000)
            self.assertEqual(result["note"], f"{printed / 1e6:.1f} MB on {stream}")
            self.assertTrue(run.row(id).endswith(result["note"]), run)
            head, tail = result[stream].split(f"\n[{printed - 65536} bytes left out]\n")
            self.assertEqual((len(head), len(tail)), (16384, 49152))
            self.assertTrue(head.startswith(PRINTED_LINE * 2))
            self.assertIn(PRINTED_LINE * 2, tail)
        printed = run.result("planted/prints_stderr")["stderr_bytes"]
        self.assertTrue(self.details(run, "prints_stderr").startswith(
            f"  standard error, {printed} bytes, the middle left out:\n    {PRINTED_LINE}"))

    def test_timeouts(self):
        run = self.around("sleeps", "sleeps_briefly", "hangs", arguments=["--timeout", "2.5"])
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, timeouts=2, on_device=4)
        self.assert_fine(run, run.result("planted/sleeps_briefly"))
        message = "no result within 2.5 s"
        for fault in ("sleeps", "hangs"):
            result = self.assert_fault(
                run, fault, status="timeout", extra_threads=None, note=f"{message} (first_call)",
                error={"type": "timeout", "message": message, "trace": None})
            self.assertGreaterEqual(result["elapsed_s"], 2.5)
            self.assertTrue(re.match(
                r"  timeout in phase first_call after \d+\.\d s\n"
                rf"  error timeout in phase first_call:\n    {re.escape(message)}\n",
                self.details(run, fault)), run)
        passed = "passed its deadline"
        self.assert_replaced(
            run, 1, "sleeps", passed, NEIGHBOUR,
            reason=f"planted/sleeps[float32] {passed}; the worker ended by TERM")
        self.assert_replaced(
            run, 2, "hangs", passed, "planted/sleeps_briefly[float32]",
            reason=f"planted/hangs[float32] {passed}; "
                   "the worker ended by KILL, after TERM did not help")
        self.assertEqual(run.result(AFTER)["worker"], 3)


@support.needs_torch
class OnTheCpu(PlantedFaults, support.EndToEndTest):
    torch = support.TORCH
    device = "cpu"

    def test_all_at_once(self):
        run = self.run_checks("--timeout", "6", "--profile", "quick", device="cpu", planted=True,
                              enable=["elementwise", "planted"])
        self.assertEqual(run.status, 1, run)
        ids = [check["id"] for check in run.one("schedule")["checks"]]
        self.assertEqual(len(ids), 9 + 16)
        self.assertEqual([result["id"] for result in run.results], ids)
        statuses = {"throws": "error", "throws_nonstd": "error", "out_of_memory": "error",
                    "tells": "error", "aborts": "crash", "segfaults": "crash", "exits": "crash",
                    "sleeps": "timeout", "hangs": "timeout"}
        for result in run.results:
            self.assertEqual(result["status"], statuses.get(result["name"], "ok"), run)
            self.assertRegex(run.row(result["id"]), rf"^\S+ {result['status']} (cpu|-) ")
        self.assert_counts(run, checks=25, on_device=16, errors=4, warnings=2, crashes=3,
                           timeouts=2)
        self.assertRegex(run.summary["text"],
                         r"^Summary: 16/25 returned cpu tensors \| 4 errors \| 2 warnings \| "
                         r"3 crashes \| 2 timeouts \| \d+\.\d s$")
        # A fault without a check before it in the same worker has no neighbour.
        workers = {"segfaults": 2, "exits": 3, "leaves_thread": 4, "sleeps": 4,
                   "sleeps_briefly": 5, "hangs": 5}
        for result in run.results:
            self.assertEqual(result["worker"], workers.get(result["name"], 1), result["id"])
        self.assertEqual(
            [(repeat["name"], repeat["worker"], repeat["status"]) for repeat in run.repeats],
            [("out_of_memory", 2, "error"), ("leaves_thread", 5, "ok"),
             ("sleeps_briefly", 6, "ok")])
        self.assertEqual([record["worker"] for record in run.of_kind("worker")], [1, 2, 3, 4, 5])


@support.needs_torch
class OnTheSimulatedRocmDevice(PlantedFaults, support.EndToEndTest):
    torch = support.SIMULATED
    device = "cuda:0"


if __name__ == "__main__":
    support.main()
