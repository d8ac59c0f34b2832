# SPDX-License-Identifier: Apache-2.0
"""The chain of evidence on the simulated ROCm device: a clean run without a false alarm, and for each
fault that can be switched on the link that must find it."""
import json
import pathlib
import re

import support

ALL_PASS = ("ran", "on_device", "no_fallback", "correct")


@support.needs_torch
class EvidenceTest(support.SharedCeilings, support.EndToEndTest):
    def run_on_rocm(self, *arguments, switches=None, cache=None, **more):
        env = {"SIMULATED_ROCM": switches, **({"XDG_CACHE_HOME": cache} if cache else {})}
        return self.run_checks(*arguments, torch=support.SIMULATED, evidence=True, env=env, **more)


class CleanRun(EvidenceTest):
    def test_all_checks_without_an_alarm(self):
        for dtype, count in ((None, 55), ("bfloat16", 54)):
            with self.subTest(dtype):
                self.assert_clean(self.run_on_rocm(*(["--dtype", dtype] if dtype else [])), count)

    def assert_clean(self, run, count):
        self.assertEqual(run.status, 0, run)
        lines = run.of_kind("evidence")
        self.assertEqual(len(lines), count)
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
            # assay's own waits are not the call's: only what reads its result's size waits
            waits = line["id"].startswith("indexing/nonzero")
            self.assertEqual(line["verdict"]["bound"] == "host sync", waits, line["verdict"])
            self.assertEqual(profiler["syncs"] > 0, waits, line["id"])
            # nothing is measured twice: the times are those of the first pass
            self.assertIsNotNone(run.result(line["id"])["timing"])
        ceilings = run.of_kind("ceilings")[-1]
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

    def test_ceilings_that_a_check_proves_wrong_are_measured_again(self):
        self.run_on_rocm(enable=["linear/bmm"])
        kept = pathlib.Path(self.cache, "assay")
        for file in kept.glob("ceilings-*.json"):
            whole = json.loads(file.read_text(encoding="utf-8"))
            for dtype in ("float32", "float16", "bfloat16"):
                whole["ceilings"]["matrix_tflop_per_s"][dtype] = 1e-4
            file.write_text(json.dumps(whole), encoding="utf-8")
        run = self.run_on_rocm(enable=["linear/bmm"])
        cached, again = run.of_kind("ceilings")
        self.assertEqual((cached["state"], again["state"]), ("cached", "measured"), run)
        self.assertIn("measured again, since linear/bmm[float32] came to", again["why"])
        self.assertGreater(again["matrix_tflop_per_s"]["float32"], 1e-4)
        self.assertEqual(run.links("linear/bmm")["speed"], "pass", run)
        self.assertIn("measured again", run.stdout)
        self.assertEqual(self.run_on_rocm(enable=["linear/bmm"]).one("ceilings")["state"], "cached")

    def test_a_folder_in_the_place_of_the_kept_ceilings(self):
        cache = self.folder / "cache"
        first = self.run_on_rocm(enable=["elementwise/add"], cache=cache)
        self.assertEqual(first.status, 0, first)
        file, = (cache / "assay").glob("ceilings-*.json")
        file.unlink()
        file.mkdir()
        run = self.run_on_rocm(enable=["elementwise/add"], cache=cache)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.one("ceilings")["state"], "measured")
        self.assertIn("cannot write", run.one("ceilings")["why"])

    def test_without_evidence_the_run_of_before(self):
        run = self.run_checks(torch=support.SIMULATED, enable=["elementwise/add"])
        self.assertEqual((run.of_kind("evidence"), run.of_kind("ceilings")), ([], []))


# (switches, check, link, its state, words of its reason)
FAULTS = [
    ("missing=aten::gelu", "activation/gelu", "ran", "fail", "Could not run 'aten::gelu'"),
    ("cpu_output=aten::gelu", "activation/gelu", "on_device", "fail", "cpu"),
    ("cpu_fallback=aten::gelu", "activation/gelu", "no_fallback", "fail",
     "aten::gelu is served by the boxed CPU fallback"),
    ("cpu_fallback=aten::conv2d", "conv/conv2d", "no_fallback", "fail",
     "aten::conv2d is served by the boxed CPU fallback"),
    ("cpu_fallback=aten::conv2d", "conv/conv2d", "path", "unknown", "not all of it ran"),
    ("slow=aten::gelu:200ms", "activation/gelu", "speed", "warn", "slow"),
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
                failed = "fail" in run.links(check).values()
                self.assertEqual(run.status, 1 if failed else 0, run)
                self.assertTrue(failed or state != "fail")
                # and by no other check
                self.assertNotIn("fail", run.links("elementwise/mul").values())

    def test_one_wrong_element_in_the_half_types(self):
        for operator, check in (("mm", "linear/mm"), ("conv2d", "conv/conv2d")):
            for dtype in ("float16", "bfloat16"):
                with self.subTest(check, dtype=dtype):
                    run = self.run_on_rocm("--dtype", dtype, switches=f"one_wrong={operator}",
                                           enable=[check])
                    found = run.evidence(check)["verdict"]["links"]["correct"]
                    self.assertEqual(found["state"], "fail", found)
                    self.assertIn("error of one element", found["why"])

    def test_a_hang(self):
        run = self.run_on_rocm("--timeout", "4", switches="hang=aten::gelu",
                               enable=["activation/gelu", "elementwise/mul"])
        self.assertEqual(run.links("activation/gelu")["ran"], "fail")
        self.assertNotIn("fail", run.links("elementwise/mul").values())

    def test_a_crash_while_evidence_is_gathered_is_counted(self):
        """Only the examination of memory margins calls the out= form."""
        run = self.run_on_rocm(switches="crash=aten::gelu.out",
                               enable=["activation/gelu", "elementwise/mul"])
        self.assertEqual(run.status, 3, run)
        self.assert_counts(run, crashes=1, watching_failed=1)
        self.assertIn("1 crashes | 0 timeouts | 1 of these while gathering evidence", run.stdout)
        self.assertEqual(run.evidence("activation/gelu")["phase"], "evidence")
        self.assertEqual(run.evidence("activation/gelu")["verdict"]["verdict"], "unknown")
        self.assertNotIn("fail", run.links("elementwise/mul").values())

    def test_attention_by_the_math_path(self):
        run = self.run_on_rocm("--dtype", "float16", switches="slow_path=scaled_dot_product_attention",
                               enable=["attention/sdpa"])
        line = run.evidence("attention/sdpa")
        self.assertEqual(line["verdict"]["path"], "math", run)
        link = line["verdict"]["links"]["path"]
        self.assertEqual(link["state"], "warn")
        self.assertIn("math is a slow path; LibTorch: Memory efficient kernel not used because: ",
                      link["why"])
        self.assertIn("Flash attention was not compiled for current AMD GPU architecture",
                      link["why"])

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
        run = self.run_on_rocm(switches="slow=aten::gelu:100ms;kernel=aten::exp:0ns;"
                                        "slow_submit=aten::exp:2ms",
                               enable=["activation/gelu", "elementwise/exp"])
        self.assertEqual(run.evidence("activation/gelu")["verdict"]["bound"], "latency")
        self.assertEqual(run.evidence("elementwise/exp")["verdict"]["bound"], "launch")

    def test_results_that_differ_between_calls_are_a_fact(self):
        run = self.run_on_rocm(switches="unrepeatable=aten::gelu", enable=["activation/gelu"])
        self.assertIs(run.evidence("activation/gelu")["evidence"]["correct"]["repeatable"], False)
        self.assertIn("Not repeatable bit for bit, by two calls: activation/gelu[float32]\n",
                      run.stdout)


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

    def test_the_split_agrees_with_the_verdict(self):
        run = self.run_on_rocm("--split", enable=["activation/gelu", "conv/conv2d"])
        busy = re.search(r"device busy (\d+) % of the wall time", run.stdout)
        worked = re.search(r"the device worked\s+(\d+) %", run.stdout)
        self.assertTrue(busy and worked, run)
        self.assertEqual(busy[1], worked[1], run)
        self.assertLessEqual(int(busy[1]), 100)

    def test_baseline_cpu(self):
        run = self.run_on_rocm("--baseline", "cpu", enable=["activation/gelu"])
        verdict = run.evidence("activation/gelu", "cuda:0")["verdict"]
        self.assertGreater(verdict["speed_up"], 0)
        self.assertEqual(run.summary["checks"], 1)


@support.needs_torch
class MathAttention(support.SharedCeilings, support.EndToEndTest):
    """LibTorch's own words on why it took no fused attention, where no switch is involved."""

    def test_three_dimensions(self):
        for torch, kernels in ((support.TORCH, ["Flash attention"]),
                               (support.SIMULATED, ["Memory efficient", "Flash attention"])):
            run = self.run_checks("--plugin-dir", support.TREE / "tests" / "evidence_pack",
                                  torch=torch, evidence=True, enable=["evidence/attention_3d"],
                                  device="cpu" if torch == support.TORCH else None)
            link = run.evidence("evidence/attention_3d")["verdict"]["links"]["path"]
            self.assertEqual(link["state"], "warn", run)
            for kernel in kernels:
                self.assertIn(f"{kernel} kernel not used because: ", link["why"])
            self.assertIn("4 dimensional", link["why"])
            # and the run goes on with the paths that LibTorch has
            self.assertEqual(run.status, 0, run)


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
