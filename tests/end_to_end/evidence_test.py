# SPDX-License-Identifier: Apache-2.0
"""The chain of evidence on the simulated ROCm device: a clean run without a false alarm, and for each
fault that can be switched on the link that must find it."""
import json

import support

ALL_PASS = ("ran", "on_device", "no_fallback", "correct")


@support.needs_torch
class EvidenceTest(support.SharedCeilings, support.EndToEndTest):
    def run_on_rocm(self, *arguments, switches=None, **more):
        return self.run_checks(*arguments, torch=support.SIMULATED, evidence=True,
                               env={"SIMULATED_ROCM": switches}, **more)


class CleanRun(EvidenceTest):
    def test_all_checks_without_an_alarm(self):
        run = self.run_on_rocm()
        self.assertEqual(run.status, 0, run)
        lines = run.of_kind("evidence")
        self.assertEqual(len(lines), 55)
        for line in lines:
            links = line["verdict"]["links"]
            for name in ALL_PASS:
                self.assertEqual(links[name]["state"], "pass", (line["id"], links[name]))
            for name, link in links.items():
                self.assertNotIn(link["state"], ("fail", "warn"), (line["id"], name, link))
                if link["state"] == "unknown":
                    self.assertTrue(link["why"], (line["id"], name))
            profiler = line["evidence"]["profiler"]
            self.assertEqual(profiler["state"], "seen", line["id"])
            self.assertGreater(profiler["kernel_count"], 0, line["id"])
            # nothing is measured twice: the times are those of the first pass
            self.assertIsNotNone(run.result(line["id"])["timing"])
        ceilings = run.one("ceilings")
        self.assertIn(ceilings["state"], ("measured", "cached"))
        self.assertGreater(ceilings["copy_gb_per_s"], 0)
        self.assertGreater(ceilings["matrix_tflop_per_s"]["float32"], 0)

    def test_paths_are_named(self):
        run = self.run_on_rocm(enable=["norm", "conv", "attention"])
        paths = {line["id"].split("[")[0]: line["verdict"]["path"] for line in
                 run.of_kind("evidence")}
        self.assertEqual(paths["conv/conv2d"], "miopen")
        self.assertEqual(paths["norm/layer_norm"], "native")

    def test_ceilings_are_kept_and_refreshed(self):
        first = self.run_on_rocm("--refresh-ceilings", enable=["elementwise/add"])
        second = self.run_on_rocm(enable=["elementwise/add"])
        self.assertEqual([run.one("ceilings")["state"] for run in (first, second)],
                         ["measured", "cached"])

    def test_without_evidence_the_run_of_before(self):
        run = self.run_checks(torch=support.SIMULATED, enable=["elementwise/add"])
        self.assertEqual((run.of_kind("evidence"), run.of_kind("ceilings")), ([], []))


# (switches, check, link, its state, words of its reason)
FAULTS = [
    ("missing=aten::gelu", "activation/gelu", "ran", "fail", "Could not run 'aten::gelu'"),
    ("cpu_output=aten::gelu", "activation/gelu", "on_device", "fail", "cpu"),
    ("cpu_fallback=aten::gelu", "activation/gelu", "no_fallback", "fail", "aten::"),
    ("round_trip=aten::gelu", "activation/gelu", "no_fallback", "fail", "aten::"),
    ("no_kernel=aten::gelu", "activation/gelu", "no_fallback", "fail", "no kernel"),
    ("profiler=off", "activation/gelu", "no_fallback", "unknown", "profiler"),
    ("wrong=aten::gelu", "activation/gelu", "correct", "fail", ""),
    ("one_wrong=aten::gelu", "activation/gelu", "correct", "fail", ""),
    ("nan=aten::gelu", "activation/gelu", "correct", "fail", "NaN"),
    ("zeros=aten::gelu", "activation/gelu", "correct", "fail", "mistrusted"),
    ("constant=aten::gelu", "activation/gelu", "correct", "fail", "mistrusted"),
    ("overrun=aten::gelu.out", "activation/gelu", "correct", "fail", "outside"),
    ("slow_path=aten::conv2d", "conv/conv2d", "path", "warn", "slow"),
    ("crash=aten::gelu", "activation/gelu", "ran", "fail", "SIGABRT"),
    ("poison=aten::gelu", "activation/gelu", "ran", "fail", "illegal memory access"),
    ("async_error=aten::gelu", "activation/gelu", "ran", "fail", "device-side assert"),
    ("miopen_fail=aten::conv2d", "conv/conv2d", "ran", "fail", "miopenStatusUnknownError"),
    ("oom=aten::gelu", "activation/gelu", "ran", "fail", "out of memory"),
]


class FaultMatrix(EvidenceTest):
    def test_each_fault_is_found_by_its_link(self):
        for switches, check, link, state, words in FAULTS:
            with self.subTest(switches):
                run = self.run_on_rocm(switches=switches, enable=[check, "elementwise/mul"])
                found = run.evidence(check)["verdict"]["links"][link]
                self.assertEqual(found["state"], state, (found, run))
                self.assertIn(words, found["why"])
                self.assertEqual(run.status, 1 if state == "fail" else 0, run)
                # and by no other check
                self.assertNotIn("fail", run.links("elementwise/mul").values())

    def test_a_hang(self):
        run = self.run_on_rocm("--timeout", "4", switches="hang=aten::gelu",
                               enable=["activation/gelu", "elementwise/mul"])
        self.assertEqual(run.links("activation/gelu")["ran"], "fail")
        self.assertNotIn("fail", run.links("elementwise/mul").values())

    def test_attention_by_the_math_path(self):
        run = self.run_on_rocm("--dtype", "float16", switches="slow_path=scaled_dot_product_attention",
                               enable=["attention/sdpa"])
        line = run.evidence("attention/sdpa")
        self.assertEqual(line["verdict"]["path"], "math", run)
        self.assertEqual(line["verdict"]["links"]["path"]["state"], "warn")

    def test_batch_norm_by_the_native_path(self):
        # With weights, without which LibTorch never takes MIOpen; so it is no classic check.
        more = ["--plugin-dir", support.TREE / "tests" / "evidence_pack"]
        clean = self.run_on_rocm(*more, enable=["evidence/batch_norm"])
        slow = self.run_on_rocm(*more, switches="slow_path=aten::batch_norm",
                                enable=["evidence/batch_norm"])
        self.assertEqual(clean.evidence("evidence/batch_norm")["verdict"]["path"], "miopen", clean)
        self.assertEqual(clean.links("evidence/batch_norm")["path"], "pass")
        self.assertEqual(slow.evidence("evidence/batch_norm")["verdict"]["path"], "native", slow)
        self.assertEqual(slow.links("evidence/batch_norm")["path"], "warn")

    def test_a_wait_for_the_device(self):
        run = self.run_on_rocm(switches="sync=aten::gelu", enable=["activation/gelu"])
        verdict = run.evidence("activation/gelu")["verdict"]
        self.assertEqual(verdict["bound"], "host sync", run)
        self.assertEqual(verdict["links"]["no_fallback"]["state"], "pass")

    def test_bounds(self):
        run = self.run_on_rocm(switches="slow=aten::gelu:20ms;kernel=aten::exp:0ns;"
                                        "slow_submit=aten::exp:2ms",
                               enable=["activation/gelu", "elementwise/exp"])
        self.assertIn(run.evidence("activation/gelu")["verdict"]["bound"], ("memory", "compute"))
        self.assertEqual(run.evidence("elementwise/exp")["verdict"]["bound"], "launch")

    def test_results_that_differ_between_calls_are_a_fact(self):
        run = self.run_on_rocm(switches="unrepeatable=aten::gelu", enable=["activation/gelu"])
        self.assertIs(run.evidence("activation/gelu")["evidence"]["correct"]["repeatable"], False)


class TimeSplit(EvidenceTest):
    def test_chrome_traces(self):
        run = self.run_on_rocm("--split", "--chrome-trace", "traces",
                               enable=["activation/gelu", "elementwise/add"])
        self.assertEqual(run.status, 0, run)
        for check in ("activation/gelu", "elementwise/add"):
            profiler = run.evidence(check)["evidence"]["profiler"]
            trace = json.loads((self.folder / profiler["trace_file"]).read_text(encoding="utf-8"))
            names = {event.get("name", "") for event in trace["traceEvents"]}
            self.assertTrue(any(name.startswith("simulated_") for name in names), names)
            self.assertGreater(profiler["call_us"], 0)
            self.assertGreater(profiler["busy_us"], 0)
            whole = profiler["busy_us"] + profiler["copy_us"] + profiler["idle_us"]
            self.assertAlmostEqual(whole, profiler["call_us"], delta=0.02 * profiler["call_us"])

    def test_baseline_cpu(self):
        run = self.run_on_rocm("--baseline", "cpu", enable=["activation/gelu"])
        verdict = run.evidence("activation/gelu", "cuda:0")["verdict"]
        self.assertGreater(verdict["speed_up"], 0)
        self.assertEqual(run.summary["checks"], 1)


class OnTheCpu(support.EndToEndTest):
    @support.needs_torch
    def test_the_chain_on_the_cpu(self):
        run = self.run_checks("--profile", "quick", device="cpu", evidence=True)
        self.assertEqual(run.status, 0, run)
        for line in run.of_kind("evidence"):
            for name in ALL_PASS:
                self.assertEqual(line["verdict"]["links"][name]["state"], "pass",
                                 (line["id"], line["verdict"]["links"][name]))


if __name__ == "__main__":
    support.main()
