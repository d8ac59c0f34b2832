# SPDX-License-Identifier: Apache-2.0
"""assay on the simulated ROCm device: the whole run, and each fault that its switches make."""
import support


@support.needs_torch
class SimulatedRocmTest(support.EndToEndTest):
    def run_on_rocm(self, *arguments, switches=None, **more):
        run = self.run_checks(*arguments, torch=support.SIMULATED,
                              env={"SIMULATED_ROCM": switches}, **more)
        for engine in run.of_kind("engine"):
            self.assertEqual((engine["status"], engine["backend_error"]), ("ready", ""), run)
            if run.one("run")["device_asked"] != "cpu":  # which leaves the GPU part closed
                self.assertEqual(engine["build"], "rocm", run)
        return run


class WholeRun(SimulatedRocmTest):
    def test_all_checks(self):
        run = self.run_on_rocm()
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stderr, "")
        self.assert_counts(run, checks=55, on_device=55)
        self.assertEqual(run.summary["devices"], ["cuda"])
        self.assertTrue(run.summary["text"].startswith("Summary: 55/55 returned cuda tensors | "))
        for result in run.results:
            self.assertEqual((result["status"], result["device"], result["on_device"],
                              result["note"], result["stderr_bytes"], result["worker"]),
                             ("ok", "cuda:0", True, "", 0, 1), run)
            self.assertIn(" ok cuda:0 ", run.row(result["id"]))
            timing = result["timing"]
            for time in ("first_call_us", "submit_us", "wall_us", "device_us"):
                self.assertGreater(timing[time], 0, result["id"])
            self.assertLessEqual(timing["submit_us"], timing["wall_us"], result["id"])
            self.assertIn(timing["device_basis"], ("held", "span"))
        gpu = run.engine["devices"][1]
        self.assertEqual((gpu["device"], gpu["name"], gpu["architecture"]),
                         ("cuda:0", "simulated ROCm device", "gfx0000 (simulated)"))
        self.assertIn("rocm build", run.stdout)
        self.assertIn("cuda:0: simulated ROCm device (gfx0000 (simulated))\n", run.stdout)

    def test_all_dtypes(self):
        run = self.run_on_rocm("--dtype", "float16", "--dtype", "bfloat16", "--profile", "quick",
                               enable=["elementwise", "norm"])
        self.assertEqual(run.status, 0, run)
        self.assertEqual({result["dtype"] for result in run.results}, {"float16", "bfloat16"})
        for result in run.results:
            self.assertEqual({output["dtype"] for output in result["outputs"]}, {result["dtype"]})


class Devices(SimulatedRocmTest):
    def devices_of(self, asked, switches=None):
        run = self.run_on_rocm(device=asked, switches=switches, enable=["elementwise/add"])
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.one("run")["device_asked"], asked)
        for result in run.results:
            self.assertEqual(result["outputs"][0]["device"], result["device"])
        return [result["device"] for result in run.results]

    def test_one_device(self):
        self.assertEqual(self.devices_of("hip"), ["cuda:0"])
        self.assertEqual(self.devices_of("hip:0"), ["cuda:0"])
        self.assertEqual(self.devices_of("cuda"), ["cuda:0"])
        self.assertEqual(self.devices_of("cpu"), ["cpu"])
        self.assertEqual(self.devices_of("all"), ["cpu", "cuda:0"])

    def test_two_devices(self):
        two = "devices=2"
        self.assertEqual(self.devices_of("auto", two), ["cuda:0"])
        self.assertEqual(self.devices_of("cuda:1", two), ["cuda:1"])
        self.assertEqual(self.devices_of("hip:1", two), ["cuda:1"])
        self.assertEqual(self.devices_of("all", two), ["cpu", "cuda:0", "cuda:1"])

    def test_device_that_is_not_there(self):
        for device in ("hip:1", "cuda:1"):
            run = self.run_on_rocm(device=device, enable=["elementwise/add"])
            self.assertEqual((run.status, run.stdout, run.records), (2, "", []), run)
            self.assert_one_line(run, f"--device {device}", "cuda:0")

    def test_no_device(self):
        run = self.run_checks(torch=support.SIMULATED, env={"SIMULATED_ROCM": "devices=0"},
                              enable=["elementwise/add"])
        self.assertEqual(run.status, 0, run)
        self.assertEqual([result["device"] for result in run.results], ["cpu"])
        self.assertIn("The CPU was used (--device auto): LibTorch sees no GPU. With a GPU in the "
                      "machine, assay doctor looks for the cause.", " ".join(run.stdout.split()))
        run = self.run_checks(torch=support.SIMULATED, env={"SIMULATED_ROCM": "devices=0"},
                              device="hip", enable=["elementwise/add"])
        self.assertEqual(run.status, 3, run)
        self.assertEqual(run.engine["status"], "failed")
        self.assertIn("--device hip: ", run.engine["reason"])
        self.assertIn("--device cpu runs without one", run.engine["reason"])


class Timing(SimulatedRocmTest):
    def timing(self, switches, *arguments):
        run = self.run_on_rocm(*arguments, switches=switches, enable=["activation/relu"])
        self.assertEqual(run.status, 0, run)
        return run.result("activation/relu")["timing"], run.row("activation/relu[float32]")

    def test_slow_kernel(self):
        """The host is far ahead of the device: the device's time is measured, and is no bound."""
        timing, row = self.timing("slow=relu:5000us")
        self.assertEqual((timing["warm_up_calls"], timing["calls"], timing["stop_reason"]),
                         (3, 20, "count"))
        self.assertEqual(timing["device_basis"], "held")
        self.assertNotIn("<=", row)
        for time in ("first_call_us", "wall_us", "device_us"):
            self.assertGreaterEqual(timing[time], 4900, time)
        self.assertLess(timing["submit_us"], timing["wall_us"] / 2)

    def test_slow_submit(self):
        """The host is behind: the device was held in vain, and its time is an upper bound."""
        timing, row = self.timing("slow_submit=relu:6000us")
        self.assertEqual(timing["device_basis"], "span")
        self.assertIn(" <=", row)
        self.assertGreaterEqual(timing["submit_us"], 5900)
        self.assertGreaterEqual(timing["wall_us"], timing["submit_us"])

    def test_quick(self):
        timing, _ = self.timing("slow=relu:30ms", "--profile", "quick")
        self.assertEqual(timing["stop_reason"], "time_cap")
        self.assertEqual(timing["calls"], 3)
        timing, _ = self.timing("slow=relu:10ms", "--profile", "quick")
        self.assertEqual(timing["stop_reason"], "time_cap")
        self.assertLessEqual(timing["calls"], 10)

    def test_measure(self):
        timing, _ = self.timing("slow=relu:2ms", "--profile", "measure", "--measure-limit", "1")
        samples = timing["samples"]
        self.assertEqual(len(samples["wall_us"]), len(samples["device_us"]))
        self.assertGreater(len(samples["device_us"]), 0)
        self.assertEqual(timing["device_min_us"], min(samples["device_us"]))
        self.assertGreaterEqual(timing["device_min_us"], 1900)
        self.assertGreaterEqual(timing["device_mad_us"], 0)
        self.assertIn(timing["stop_reason"], ("steady", "time_limit"))


class Switches(SimulatedRocmTest):
    """One fault of relu, or of MIOpen's convolution, among four checks."""

    CHECKS = ["activation/relu", "conv/conv2d", "elementwise/add", "elementwise/mul"]

    def one_fault(self, switches, *arguments, faulty="activation/relu", status="error", **counts):
        run = self.run_on_rocm(*arguments, switches=switches, enable=self.CHECKS)
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, checks=4, on_device=3, **counts)
        self.assertEqual([f"{result['category']}/{result['name']}" for result in run.results],
                         self.CHECKS)
        for result in run.results:
            if result["id"] != f"{faulty}[float32]":
                self.assertEqual((result["status"], result["on_device"], result["note"]),
                                 ("ok", True, ""), run)
        result = run.result(faulty)
        self.assertEqual(result["status"], status, run)
        self.assertTrue(run.row(result["id"]).endswith(" ".join(result["note"].split())), run)
        return run, result, run.details(result["id"], "cuda:0")

    def assert_replaced(self, run, reason):
        """The first check's worker ended, and the second one ran the rest."""
        self.assertEqual([result["worker"] for result in run.results], [1, 2, 2, 2])
        self.assertEqual(run.one("worker")["reason"], reason)
        self.assertEqual(run.repeats, [])  # nothing ran before it

    def test_missing(self):
        run, result, details = self.one_fault("missing=relu", errors=1)
        self.assertEqual(result["error"]["type"], "c10::NotImplementedError")
        self.assertIn("Could not run 'aten::relu' with arguments from the 'CUDA' backend",
                      result["error"]["message"])
        self.assertIn("Could not run 'aten::relu'", result["note"])
        self.assertIn("error c10::NotImplementedError in phase first_call:", details)
        self.assertFalse(result["poisoned"])
        self.assertEqual(run.of_kind("worker"), [])

    def test_output_on_the_cpu(self):
        """Of all checks, so that the count of the summary is seen."""
        run = self.run_on_rocm(switches="cpu_output=relu")
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, checks=55, on_device=54)
        self.assertTrue(run.summary["text"].startswith("Summary: 54/55 returned cuda tensors | "))
        result = run.result("activation/relu")
        self.assertEqual((result["status"], result["on_device"], result["note"]),
                         ("ok", False, "output on cpu, not on cuda:0"))
        self.assertIn(" ok cpu! ", run.row(result["id"]))

    def test_cpu_fallback(self):
        """The output is where it belongs: no failure yet."""
        run = self.run_on_rocm(switches="cpu_fallback=relu", enable=self.CHECKS)
        self.assertEqual(run.status, 0, run)
        self.assert_counts(run, checks=4, on_device=4,
                           warnings=len(run.result("activation/relu")["warnings"]))

    def test_crash(self):
        run, result, details = self.one_fault("crash=relu", status="crash", crashes=1)
        self.assertEqual(result["signal"], {"number": 6, "name": "SIGABRT"})
        self.assertIn("Memory access fault by GPU", result["stderr"])
        self.assertIn("the process died of SIGABRT (first_call)", result["note"])
        self.assertIn("bytes on stderr", result["note"])
        self.assertIn("crash in phase first_call: SIGABRT (6)", details)
        self.assertIn("standard error:\n    Memory access fault by GPU", details)
        self.assert_replaced(run, "activation/relu[float32] ended it")

    def test_hang(self):
        run, result, details = self.one_fault("hang=relu", "--timeout", "10", status="timeout",
                                              timeouts=1)
        self.assertEqual((result["phase"], result["note"], result["signal"]),
                         ("first_call", "no result within 10 s (first_call)", None))
        self.assertIn("timeout in phase first_call after ", details)
        self.assert_replaced(
            run, "activation/relu[float32] passed its deadline; the worker ended by TERM")

    def test_poison(self):
        run, result, details = self.one_fault("poison=relu", errors=1)
        self.assertTrue(result["poisoned"])
        self.assertIn("HIP error: an illegal memory access was encountered",
                      result["error"]["message"])
        self.assertIn("the device was unusable afterwards, so the worker was replaced",
                      result["note"])
        self.assertIn("the device no longer worked in this process after the error", details)
        self.assert_replaced(
            run, "activation/relu[float32] left the device unusable in this process")

    def test_poison_repeats_the_neighbour(self):
        run, _, details = self.one_fault("poison=add", faulty="elementwise/add", errors=1)
        [repeat] = run.repeats
        reason = "elementwise/add[float32] left the device unusable"
        self.assertEqual((repeat["id"], repeat["repeat_of"], repeat["status"], repeat["worker"]),
                         ("conv/conv2d[float32]", reason, "ok", 2))
        self.assertIn(f"repeated: conv/conv2d[float32] on cuda:0: ok ({reason})", details)

    def test_miopen_fails(self):
        run, result, details = self.one_fault("miopen_fail=miopen_convolution",
                                              faulty="conv/conv2d", errors=1)
        self.assertEqual(result["error"]["message"].strip(), "miopenStatusUnknownError")
        self.assertIn("miopenStatusUnknownError (first_call)", result["note"])
        words = ("fatal error: 'type_traits' file not found",
                 "MIOpen(HIP): Error [BuildHip] HIPRTC status = HIPRTC_ERROR_COMPILATION (6)",
                 "Code object build failed")
        for text in words:
            self.assertIn(text, result["stderr"])
            self.assertIn(text, details)
        self.assertEqual(len(result["stderr"].encode()), result["stderr_bytes"])
        for other in run.results:
            if other is not result:
                self.assertEqual(other["stderr_bytes"], 0)
        self.assertFalse(result["poisoned"])

    def test_out_of_memory(self):
        run, result, _ = self.one_fault("oom=relu", errors=1)
        self.assertEqual(result["error"]["type"], "c10::OutOfMemoryError")
        self.assertIn("HIP out of memory. Tried to allocate 20.00 GiB", result["note"])
        self.assertFalse(result["poisoned"])
        self.assertEqual(run.of_kind("worker"), [])


class SetUp(SimulatedRocmTest):
    def test_libtorch_ends_the_process(self):
        run = self.run_checks(torch=support.SIMULATED, env={"SIMULATED_ROCM": "typo=relu"})
        self.assertEqual(run.status, 3, run)
        self.assertEqual(run.engine["status"], "failed")
        self.assertIn("no switch is called 'typo'", run.engine["reason"])
        self.assertIn("no switch is called 'typo'", run.stdout)
        self.assertEqual(run.results, [])


if __name__ == "__main__":
    support.main()
