# SPDX-License-Identifier: Apache-2.0
"""What happens to a run when assay, its worker, its files or its terminal meet their end."""
import fcntl
import os
import pathlib
import signal
import statistics
import time

import support

HANGING = "planted/hangs[float32]"
MEMORY_LIMIT_KIB = 50 * 1024


@support.needs_torch
class SupervisionTest(support.EndToEndTest):
    def started_run(self, *arguments, enable=("elementwise/add", "planted/hangs"), **more):
        """A run at work on the CPU, its result file, and a wait for a line in it."""
        return self.started(*self.run_arguments("--timeout", "600", *arguments, planted=True,
                                                device="cpu", enable=enable), **more)

    @property
    def result_file(self):
        return self.folder / f"run{self.runs}.jsonl"

    def records_so_far(self):
        if not self.result_file.exists():
            return []
        return support.read_records(self.result_file.read_text(encoding="utf-8"))

    def wait_for_start(self, id, process):
        """Waits until a check is at work, and answers the workers."""
        def started():
            self.assertIsNone(process.poll(), "assay ended")
            return any(record["record"] == "starting" and record["id"] == id
                       for record in self.records_so_far())
        self.wait_until(started, f"the start of {id}")
        workers = process.workers()
        self.assertEqual(len(workers), 1)
        return workers

    def assert_nothing_left_in(self, folder):
        self.assertEqual(list(folder.iterdir()), [])


class KilledTest(SupervisionTest):
    def kill_in(self, id, enable):
        with self.started_run(enable=enable) as process:
            workers = self.wait_for_start(id, process)
            process.kill()
            process.wait()
            self.assert_gone(workers)
        self.assert_valid(self.result_file, unfinished=True)
        records = self.records_so_far()
        self.assertEqual((records[-1]["record"], records[-1]["id"]), ("starting", id))
        self.assertEqual([record["record"] for record in records].count("summary"), 0)
        return [record for record in records if record["record"] == "result"]

    def test_in_mid_run(self):
        results = self.kill_in("planted/sleeps[float32]", ["elementwise", "planted/sleeps"])
        self.assertEqual(len(results), 9)

    def test_while_the_worker_hangs(self):
        """It ignores TERM and is busy for good."""
        self.assertEqual(len(self.kill_in(HANGING, ["elementwise/add", "planted/hangs"])), 1)

    def test_while_libtorch_is_opened(self):
        with self.started_run() as process:
            workers = self.wait_until(process.workers, "the worker")
            process.kill()
            process.wait()
            self.assert_gone(workers)


class InterruptedTest(SupervisionTest):
    def interrupt(self, number, id, enable, within=1.0):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        with self.started_run(enable=enable, env={"TMPDIR": scratch}) as process:
            workers = self.wait_for_start(id, process)
            begin = time.monotonic()
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=support.PATIENCE)
            spent = time.monotonic() - begin
            self.assertFalse(any(support.is_alive(worker) for worker in workers))
            status = process.returncode
        self.assertLess(spent, within)
        self.assert_nothing_left_in(scratch)
        self.assert_valid(self.result_file)
        run = support.Finished(status, stdout, stderr, self.records_so_far())
        self.assertEqual((run.status, run.stderr), (130, ""), run)
        self.assertEqual((run.summary["interrupted"], run.summary["exit_status"]), (True, 130))
        self.assertEqual(run.stdout.splitlines()[-1], run.summary["text"])
        self.assertIn(" | interrupted | ", run.summary["text"])
        return run

    def test_sigint(self):
        run = self.interrupt(signal.SIGINT, HANGING, ["elementwise", "planted/hangs"])
        self.assert_counts(run, checks=10, on_device=9, not_run=1)
        for result in run.results:
            self.assertRegex(run.row(result["id"]), r"^elementwise/\w+\[float32\] ok cpu [0-9.]+ ")
        self.assertIn(f"Interrupted: 1 of 10 checks did not run. {HANGING} on cpu was running.\n",
                      run.stdout)
        self.assertEqual(run.stdout.count(HANGING), 1, "it has no row")

    def test_sigterm(self):
        run = self.interrupt(signal.SIGTERM, "planted/sleeps[float32]",
                             ["elementwise/add", "planted/sleeps", "planted/hangs"])
        self.assert_counts(run, checks=3, on_device=1, not_run=2)

    def test_what_had_failed_is_diagnosed_by_rules(self):
        run = self.interrupt(signal.SIGTERM, HANGING, ["planted/out_of_memory", "planted/hangs"],
                             within=support.PATIENCE)
        found = [d["code"] for d in run.of_kind("diagnosis")]
        self.assertEqual(found, ["SYSTEM-OUT-OF-MEMORY"], run)
        self.assertEqual(run.of_kind("probe"), [])
        self.assertIn("Diagnoses\n", run.stdout)

    def test_before_the_first_check(self):
        with self.started_run() as process:
            workers = self.wait_until(process.workers, "the worker")
            time.sleep(0.05)  # until it listens to signals
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=support.PATIENCE)
            self.assertFalse(any(support.is_alive(worker) for worker in workers))
        run = support.Finished(process.returncode, stdout, stderr, self.records_so_far())
        self.assertEqual(run.status, 130, run)
        self.assertTrue(run.summary["interrupted"])
        self.assertEqual(run.stdout.splitlines()[-1], run.summary["text"])


class WorkerTest(SupervisionTest):
    def test_killed_from_outside(self):
        arguments = ["--repeat-neighbours", "1"]
        with self.started_run(*arguments,
                              enable=["elementwise/add", "planted/sleeps",
                                      "planted/sleeps_briefly"]) as process:
            [worker] = self.wait_for_start("planted/sleeps[float32]", process)
            os.kill(worker[0], signal.SIGKILL)
            stdout, stderr = process.communicate(timeout=support.PATIENCE)
        self.assert_valid(self.result_file)
        run = support.Finished(process.returncode, stdout, stderr, self.records_so_far())
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, checks=3, on_device=2, crashes=1)
        killed = run.result("planted/sleeps")
        self.assertEqual((killed["status"], killed["signal"], killed["note"]),
                         ("crash", {"number": 9, "name": "SIGKILL"},
                          "the process died of SIGKILL (first_call)"))
        self.assertEqual([repeat["id"] for repeat in run.repeats], ["elementwise/add[float32]"])
        self.assertEqual(run.result("planted/sleeps_briefly")["status"], "ok")

    def test_no_neighbours(self):
        run = self.run_checks("--repeat-neighbours", "0", planted=True, device="cpu",
                              enable=["elementwise", "planted/aborts"])
        self.assertEqual(run.status, 1, run)
        self.assertEqual(run.repeats, [])
        self.assertEqual(len(run.of_kind("worker")), 1)
        self.assertNotIn("repeated:", run.stdout)

    def test_more_neighbours(self):
        run = self.run_checks("--repeat-neighbours", "3", planted=True, device="cpu",
                              enable=["elementwise", "planted/aborts"])
        self.assertEqual([repeat["name"] for repeat in run.repeats], ["clamp", "where", "pow"])
        self.assertEqual({repeat["worker"] for repeat in run.repeats}, {2})
        self.assert_counts(run, checks=10, on_device=9, crashes=1)

    def test_fault_of_a_neighbour(self):
        """A repeated check that fails its worker is no reason to repeat what runs after it."""
        neighbour = "planted/sleeps_briefly[float32]"
        with self.started(*self.run_arguments(
                "--plugin-dir", support.BAD_PLUGINS / "good", "--timeout", "2.5",
                "--dtype", "float32", "--dtype", "float64", device="cpu", planted=True,
                enable=[neighbour, HANGING, "good/fine"])) as process:
            self.wait_until(lambda: any(record.get("repeat_of") for record in
                                        self.records_so_far()), "the repeated check")
            [worker] = support.workers_of(process.pid)
            os.kill(worker[0], signal.SIGKILL)
            stdout, stderr = process.communicate(timeout=support.PATIENCE)
        self.assert_valid(self.result_file)
        run = support.Finished(process.returncode, stdout, stderr, self.records_so_far())
        self.assertEqual([(repeat["id"], repeat["status"], repeat["worker"])
                          for repeat in run.repeats], [(neighbour, "crash", 2)], run)
        self.assertEqual([(result["id"], result["worker"]) for result in run.results],
                         [(neighbour, 1), (HANGING, 1), ("good/fine[float32]", 3),
                          ("good/fine[float64]", 3)])
        self.assert_counts(run, checks=4, on_device=3, timeouts=1)
        self.assertIn(f"repeated: {neighbour} on cpu: crash ({HANGING} passed its deadline)",
                      run.details(HANGING))

    def test_two_runs_at_once(self):
        with self.started_run(enable=["elementwise/add", "planted/sleeps"]) as process:
            self.wait_for_start("planted/sleeps[float32]", process)
            run = self.run_checks(device="cpu", enable=["elementwise"])
            self.assertEqual(run.status, 0, run)
            self.assertIsNone(process.poll())


class FilesTest(SupervisionTest):
    def test_full_disk(self):
        run = self.run_checks("--json", "/dev/full", device="cpu", enable=["elementwise/add"])
        self.assertEqual((run.status, run.stdout), (3, ""), run)
        self.assert_one_line(run, "/dev/full", "No space left on device")

    def test_result_file_that_cannot_be_written(self):
        for path, status in ((self.folder / "none" / "run.jsonl", 2), (self.folder, 2),
                             (pathlib.Path("/proc/run.jsonl"), 3)):
            run = self.run_checks("--json", str(path), device="cpu", enable=["elementwise/add"])
            self.assertEqual((run.status, run.stdout), (status, ""), run)
            self.assert_one_line(run, str(path.parent))

    def test_no_temporary_folder(self):
        run = self.assay(*self.run_arguments(device="cpu", enable=["elementwise/add"]),
                         env={"TMPDIR": self.folder / "none"})
        self.assertEqual((run.status, run.stdout), (3, ""), run)
        self.assert_one_line(run, "TMPDIR")

    def test_nothing_is_left_behind(self):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        self.run_checks(device="cpu", planted=True, enable=["elementwise/add", "planted/aborts"],
                        env={"TMPDIR": scratch})
        self.assert_nothing_left_in(scratch)

    def closed_early(self, *arguments, stream):
        """As `assay ... | head -1` does it."""
        read_end, write_end = os.pipe()
        with self.started(*self.run_arguments(*arguments, device="cpu", planted=True,
                                              enable=["elementwise", "planted/sleeps_briefly"]),
                          **{"stdout": write_end}) as process:
            os.close(write_end)
            workers = self.wait_until(process.workers, "the worker")
            if stream == "read":
                os.read(read_end, 1)
            os.close(read_end)
            stderr = process.communicate(timeout=support.PATIENCE)[1]
            self.assertFalse(any(support.is_alive(worker) for worker in workers))
        for word in ("terminate", "what()", "internal error", "Aborted", "core dumped"):
            self.assertNotIn(word, stderr)
        self.assertLessEqual(len(stderr.splitlines()), 1, stderr)
        return process.returncode, stderr

    def test_table_into_a_closed_pipe(self):
        status, _ = self.closed_early(stream="closed")
        self.assertIn(status, (0, 3))
        self.assertEqual(self.records_so_far()[-1]["record"], "summary")

    def test_records_into_a_closed_pipe(self):
        status, stderr = self.closed_early("--json", "-", stream="read")
        self.assertEqual(status, 3)
        self.assertIn("assay: cannot write the result file standard output: Broken pipe", stderr)


class MemoryTest(SupervisionTest):
    def test_assay_stays_small(self):
        """The table is larger than a pipe, so that assay waits before its last line until it is
        read: what it has used by then is its peak."""
        arguments = self.run_arguments("--profile", "quick", "--timeout", "600",
                                       "--disable", "planted/hangs", "--disable", "planted/sleeps",
                                       device="cpu", planted=True)
        with self.started(*arguments) as process:
            fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
            self.wait_until(lambda: process.poll() is not None or any(
                record["record"] == "summary" for record in self.records_so_far()[-1:]),
                "the summary")
            self.wait_until(lambda: (support.process_facts(process.pid) or "S")[0] == "S",
                            "assay's wait for its reader")
            self.assertIsNone(process.poll())
            peak = self.peak_resident_kib(process.pid)
            stdout = process.communicate(timeout=support.PATIENCE)[0]
        self.assertGreater(len(stdout), 65536)
        records = self.records_so_far()
        printed = max(record.get("stderr_bytes", 0) for record in records)
        self.assertGreaterEqual(printed, 50_000_000)
        self.assertEqual(records[-1]["checks"], 55 + 14)
        self.assertLess(peak, MEMORY_LIMIT_KIB)

    @staticmethod
    def peak_resident_kib(pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        return next(int(line.split()[1]) for line in status.splitlines()
                    if line.startswith("VmHWM:"))


class ProfilesTest(SupervisionTest):
    def timing(self, check, *arguments):
        run = self.run_checks(*arguments, device="cpu", planted=True, enable=[check])
        self.assertEqual(run.status, 0, run)
        return run.result(check)["timing"]

    def test_classic(self):
        timing = self.timing("planted/sleeps_briefly")
        self.assertEqual((timing["warm_up_calls"], timing["calls"], timing["stop_reason"]),
                         (3, 20, "count"))
        for member in ("samples", "wall_mad_us", "wall_min_us", "device_us", "device_basis",
                       "device_mad_us", "device_min_us"):
            self.assertIsNone(timing[member], member)
        self.assertGreaterEqual(timing["wall_us"], 20_000)
        self.assertGreaterEqual(timing["first_call_us"], 20_000)

    def test_quick(self):
        timing = self.timing("planted/sleeps_briefly", "--profile", "quick")
        self.assertEqual((timing["warm_up_calls"], timing["stop_reason"]), (3, "time_cap"))
        self.assertIn(timing["calls"], (3, 4, 5))
        self.assertEqual(timing["profile"], "quick")

    def test_quick_of_a_fast_check(self):
        timing = self.timing("planted/fine", "--profile", "quick")
        self.assertEqual((timing["calls"], timing["stop_reason"]), (20, "count"))

    def test_measure(self):
        for check, limit in (("elementwise/add", 1), ("planted/sleeps_briefly", 0.5)):
            timing = self.timing(check, "--profile", "measure", "--measure-limit", str(limit))
            samples = timing["samples"]["wall_us"]
            self.assertEqual(timing["samples"]["device_us"], [])
            self.assertIn(timing["stop_reason"], ("steady", "time_limit"))
            if timing["stop_reason"] == "steady":
                self.assertGreaterEqual(len(samples), 10)
            median = statistics.median(samples)
            self.assertAlmostEqual(timing["wall_us"], median)
            self.assertAlmostEqual(timing["wall_mad_us"],
                                   statistics.median(abs(s - median) for s in samples))
            self.assertEqual(timing["wall_min_us"], min(samples))
            self.assertEqual(timing["calls"] % len(samples), 0)
            self.assertIsNone(timing["device_us"])

    def test_seed(self):
        """Inputs are not visible in a result; that they follow the seed is a unit test's matter."""
        for seed in ("0", "1", "18446744073709551615"):
            run = self.run_checks("--seed", seed, "--profile", "quick", device="cpu",
                                  enable=["elementwise", "indexing"])
            self.assertEqual(run.status, 0, run)
            self.assertEqual(run.one("run")["seed"], int(seed))
            self.assert_counts(run, checks=15, on_device=15)


if __name__ == "__main__":
    support.main()
