# SPDX-License-Identifier: Apache-2.0
"""What `assay run` says of failures: planted on the CPU and on the simulated ROCm device, and the
first story with AMD's own HIPRTC, where its packages can be had."""
import os
import pathlib
import subprocess
import unittest

import support

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = pathlib.Path(os.environ.get("ASSAY_TEST_ROCM") or support.TREE / "tests" / "rocm")
SKIPPED = 77
WITHOUT_CXX = {"HIPRTC_COMPILE_OPTIONS_APPEND": "-nostdinc++"}
# Would change HIPRTC's answers, or where it is found.
NEUTRAL = dict.fromkeys(("CPLUS_INCLUDE_PATH", "CPATH", "C_INCLUDE_PATH", "LD_LIBRARY_PATH",
                         "TMPDIR", "ROCM_PATH", "HIP_PATH", "HIPRTC_COMPILE_OPTIONS_APPEND"))


class DiagnosedRun(support.SharedCeilings, support.EndToEndTest):
    def on_rocm(self, switches, *arguments, env=None, **more):
        return self.run_checks(*arguments, torch=support.SIMULATED,
                               env={**NEUTRAL, "SIMULATED_ROCM": switches, **(env or {})}, **more)

    def codes(self, run):
        """{code: confidence} of what is not withdrawn and no consequence."""
        return {d["code"]: d["confidence"] for d in run.of_kind("diagnosis")
                if not d["withdrawn"] and d["consequence_of"] is None}

    def one(self, run, code):
        found = [d for d in run.of_kind("diagnosis") if d["code"] == code]
        self.assertEqual(len(found), 1, run)
        return found[0]

    def assert_records(self, run):
        """Each diagnosis belongs to checks of this run, and the probes that it names were asked."""
        results = {(result["id"], result["device"]) for result in run.results} | {("", "")}
        probes = {probe["id"]: probe for probe in run.of_kind("probe")}
        for d in run.of_kind("diagnosis"):
            self.assertIn(d["confidence"], ("possible", "likely", "certain"))
            self.assertIn(d["severity"], ("error", "warning", "notice"))
            self.assertTrue(d["checks"], d)
            for check in d["checks"]:
                self.assertIn((check["id"], check["device"]), results)
            for line in d["probes"]:
                id, state = line.split(":")[0].split(" ")
                self.assertEqual(probes[id]["state"], state, d)
            if d["confidence"] == "certain":
                self.assertTrue(d["probes"], d)
        kinds = [record["record"] for record in run.records]
        self.assertEqual(kinds[-1], "summary")

    def section(self, run):
        """The text between "Diagnoses" and the summary; "" without one."""
        lines = run.stdout.splitlines()
        return "\n".join(lines[lines.index("Diagnoses"):]) if "Diagnoses" in lines else ""


@support.needs_torch
class OnTheSimulatedDevice(DiagnosedRun):
    def test_two_checks_for_one_reason(self):
        run = self.on_rocm("miopen_fail=batch_norm", enable=["norm", "elementwise/add"])
        self.assertEqual(run.status, 1, run)
        failed = [result["id"] for result in run.results if result["status"] == "error"]
        self.assertEqual(len(failed), 2, run)
        for id in failed:
            self.assertIn("  diagnosis: ROCM-HIPRTC-HEADERS (likely), see below",
                          run.details(id, "cuda:0").splitlines())
        self.assertEqual(self.codes(run), {"ROCM-HIPRTC-HEADERS": "likely"}, run)
        self.assert_records(run)
        diagnosis = self.one(run, "ROCM-HIPRTC-HEADERS")
        self.assertEqual([check["id"] for check in diagnosis["checks"]], failed)
        self.assertEqual([check["rank"] for check in diagnosis["checks"]], [1, 1])
        section = self.section(run)
        self.assertIn("2 checks for one reason: ", section)
        self.assertIn("rocm.hiprtc_headers unknown: there is no libhiprtc",
                      " ".join(section.split()))
        self.assertIn("ROCM-MIOPEN-UNKNOWN is a consequence of ROCM-HIPRTC-HEADERS", section)

    def test_several_reasons(self):
        """Each failed check has its own."""
        run = self.on_rocm("oom=relu;missing=gelu;crash=aten::add.Tensor",
                           enable=["activation/relu", "activation/gelu", "elementwise/add",
                                   "elementwise/mul"])
        self.assertEqual(run.status, 1, run)
        self.assert_records(run)
        codes = self.codes(run)
        self.assertIn("ROCM-KERNEL-ADDRESS-FAULT", codes)
        self.assertTrue(any(code.startswith("TORCH-OOM-") for code in codes), codes)
        for check in ("activation/relu", "activation/gelu", "elementwise/add"):
            self.assertIn("diagnosis: ", run.details(f"{check}[float32]", "cuda:0"), run)
        self.assertEqual(run.details("elementwise/mul[float32]", "cuda:0"), "")
        self.assertNotIn("unknown: no rule knows", run.stdout)

    def reasons(self, run, code):
        """The checks of each reason that a code has."""
        return [[check["id"] for check in d["checks"]] for d in run.of_kind("diagnosis")
                if d["code"] == code and not d["withdrawn"] and d["consequence_of"] is None]

    def test_one_code_is_not_one_reason(self):
        """Numbers that are off and NaN, a fault of memory and an illegal access: both are shown."""
        run = self.on_rocm("wrong=relu;nan=softmax;crash=gelu;poison=aten::addmm", evidence=True,
                           enable=["activation/relu", "activation/softmax", "activation/gelu",
                                   "linear/linear", "linear/addmm"])
        self.assertEqual(run.status, 1, run)
        self.assert_records(run)
        section = self.section(run)
        checks = {result["id"] for result in run.results}
        for id in sorted(checks):
            self.assertIn("diagnosis: ", run.details(id, "cuda:0"), run)
        for code in self.codes(run):
            for ids in self.reasons(run, code):
                for id in ids:
                    self.assertIn(id, section, code)
            self.assertEqual(len([line for line in section.splitlines()
                                  if line.startswith(code + "  (")]), 1, section)
        wrong = [ids for code in self.codes(run) for ids in self.reasons(run, code)
                 if "activation/relu[float32]" in ids and "activation/softmax[float32]" in ids]
        self.assertEqual(wrong, [], section)
        self.assertIn("65536 of 65536 elements differ", section)
        self.assertIn("are NaN", section)
        self.assertIn(["linear/linear[float32]", "linear/addmm[float32]"],
                      self.reasons(run, "ROCM-KERNEL-ADDRESS-FAULT"), section)
        self.assertIn(["activation/gelu[float32]"],
                      self.reasons(run, "ROCM-KERNEL-ADDRESS-FAULT"), section)
        self.assertIn("  of:   2 checks for one reason: linear/linear[float32], "
                      "linear/addmm[float32]\n", section)
        self.assertIn("  of:   activation/gelu[float32]\n", section)
        self.assertEqual([line for line in section.splitlines() if len(line) > 100 and "$ " not in
                          line and "seen: " not in line and not line.startswith("        ")], [])

    def test_a_warning_that_fails_a_check(self):
        """A fallback is a performance path, and the check failed by it."""
        run = self.on_rocm("cpu_fallback=sort", evidence=True, enable=["reduction/sort"])
        self.assertEqual(run.status, 1, run)
        best = [d for d in run.of_kind("diagnosis") if d["consequence_of"] is None][0]
        if best["severity"] == "warning":
            self.assertIn(f"{best['code']}  (likely, warning that failed a check, ",
                          self.section(run))
        self.assertNotIn("unknown: no rule knows", run.stdout)

    def test_a_timeout_is_a_failure_that_rules_see(self):
        folder = self.folder / "rules"
        folder.mkdir()
        (folder / "acme.assay.toml").write_text(
            '[pack]\nformat = 1\nid = "acme"\nversion = "1"\nvendor = "Acme"\n[[diagnosis]]\n'
            'code = "ACME-HANG"\nclass = "acme_hang"\ntitle = "It hangs"\ncategory = "hang"\n'
            'severity = "error"\nsince = "1"\ncause = "It does."\nadvice.any = ["Wait."]\n'
            '[[diagnosis.rule]]\nstatus = ["timeout"]\nconfidence = "likely"\n', encoding="utf-8")
        run = self.on_rocm("hang=silu", "--timeout", "5", "--plugin-dir", folder,
                           enable=["activation/silu"])
        self.assertEqual(run.status, 1, run)
        hang = self.one(run, "ACME-HANG")
        self.assertEqual(hang["evidence"],
                         ["timeout, in phase first_call: no result within 5 s"], run)

    def test_math_path_is_a_warning(self):
        """Attention without a fused kernel: right and slow, so a verdict and no error."""
        run = self.on_rocm("slow_path=scaled_dot_product_attention", evidence=True,
                           enable=["attention/sdpa"])
        self.assertEqual([result["status"] for result in run.results], ["ok"], run)
        [result] = run.results
        self.assertEqual(run.links(result["id"])["path"], "warn", run)
        self.assert_records(run)
        diagnosis = self.one(run, "ROCM-SDPA-MATH")
        self.assertEqual((diagnosis["severity"], diagnosis["category"], diagnosis["withdrawn"]),
                         ("warning", "performance path", False))
        self.assertNotIn("error", {d["severity"] for d in run.of_kind("diagnosis")})
        # LibTorch's own reason says more than the path does, so that it goes first.
        self.assertIn("diagnosis: TORCH-SDPA-NOT-COMPILED", run.details(result["id"], "cuda:0"))

    def test_what_has_an_entry_of_its_own(self):
        """A hang, a fallback (no round trip), NaN in float32 (no 'wrong numbers'), and an assert of
        a build that reads AMD's variable."""
        run = self.on_rocm("hang=silu;cpu_fallback=sort;nan=softmax;async_error=embedding",
                           "--timeout", "6", evidence=True,
                           enable=["activation/silu", "activation/softmax", "indexing/embedding",
                                   "reduction/sort"])
        self.assertEqual(self.codes(run),
                         {"TORCH-HANG": "possible", "TORCH-PATH-CPU-FALLBACK": "likely",
                          "TORCH-NAN-OTHER": "likely", "TORCH-HIP-ASSERT": "likely"}, run)
        self.assert_records(run)
        advice = self.one(run, "TORCH-HIP-ASSERT")["advice"]
        for platform in ("linux", "windows"):
            self.assertTrue(any("AMD_SERIALIZE_KERNEL=3" in step for step in advice[platform]))
            self.assertFalse(any("CUDA_LAUNCH_BLOCKING" in step for step in advice[platform]))

    def test_nothing_failed(self):
        run = self.on_rocm(None)
        self.assertEqual(run.status, 0, run)
        self.assertEqual((run.of_kind("diagnosis"), run.of_kind("probe")), ([], []), run)
        self.assertNotIn("iagnos", run.stdout)

    def test_classifiers_that_misbehave(self):
        """Named once each; the run and its other answers stay."""
        run = self.on_rocm("miopen_fail=batch_norm", "--plugin-dir",
                           support.PLANTED_DIAGNOSTICS, enable=["norm/batch_norm"])
        self.assertEqual(self.codes(run), {"ROCM-HIPRTC-HEADERS": "likely"}, run)
        self.assertEqual(run.stderr, "", run)  # they had nothing to say


@support.needs_torch
class OnTheCpu(DiagnosedRun):
    def test_failures(self):
        """Each is explained, or named as one that no rule knows."""
        run = self.run_checks(planted=True, device="cpu",
                              enable=[f"planted/{name}" for name in
                                      ("fine", "throws", "out_of_memory", "segfaults")])
        self.assertEqual(run.status, 1, run)
        self.assert_records(run)
        section = self.section(run)
        unknown = section.split("unknown: no rule knows why these failed: ")
        self.assertEqual(len(unknown), 2, section)
        self.assertIn("planted/throws[float32]", unknown[1])
        self.assertNotIn("planted/out_of_memory", unknown[1])
        self.assertIn("diagnosis: SYSTEM-OUT-OF-MEMORY (likely)",
                      run.details("planted/out_of_memory[float32]"))
        self.assertEqual(run.details("planted/fine[float32]"), "")


@support.needs_torch
class FirstStory(DiagnosedRun):
    """MIOpen's batch norm cannot be compiled, and the ladder asks AMD's HIPRTC why."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = subprocess.run([REPOSITORY / "tests/diag_rocm/rocm_userland", PACKAGES / "hip7"],
                              capture_output=True, text=True, check=False)
        if done.returncode == SKIPPED:
            raise unittest.SkipTest(done.stderr.strip().splitlines()[-1])
        done.check_returncode()
        cls.libraries = pathlib.Path(done.stdout.strip())

    def story(self, libraries, env=None):
        options = ["--probe-timeout", "60"]
        if libraries:
            # Its glibc is newer than the host's, so its loader starts the probe's process; the
            # host's folders are behind it, for what else the worker needs.
            needed = subprocess.run(["ldd", support.TREE / "libexec/assay/assay-worker"],
                                    capture_output=True, text=True, check=True).stdout
            host = sorted({str(pathlib.PurePath(line.split(" => ")[1].split(" (")[0]).parent)
                           for line in needed.splitlines() if " => /" in line})
            path = ":".join([str(libraries), *host])
            options += ["--probe-prefix", f"{libraries}/ld-linux-x86-64.so.2 --library-path {path}"]
        run = self.on_rocm("miopen_fail=batch_norm", *options, enable=["norm/batch_norm"], env=env)
        self.assertEqual((run.status, run.result("norm/batch_norm")["status"]), (1, "error"), run)
        self.assertTrue(run.result("norm/batch_norm")["device"].startswith("cuda"))
        self.assert_records(run)
        return run

    def test_confirmed(self):
        run = self.story(self.libraries, WITHOUT_CXX)
        self.assertEqual(self.codes(run), {"ROCM-HIPRTC-HEADERS": "certain"}, run)
        diagnosis = self.one(run, "ROCM-HIPRTC-HEADERS")
        self.assertEqual(diagnosis["class"], "miopen_hiprtc_missing_header")
        self.assertTrue(diagnosis["probes"][0].startswith("rocm.hiprtc_headers no: "), diagnosis)
        self.assertIn("'type_traits' file not found", "\n".join(diagnosis["evidence"]))
        advice = "\n".join(diagnosis["advice"]["linux"])
        self.assertIn("libstdc++", advice)
        self.assertIn("CPLUS_INCLUDE_PATH", advice)
        self.assertIn("BuildTools", "".join(diagnosis["advice"]["windows"]))
        if any(pathlib.Path("/usr/include/c++").glob("[0-9]*/type_traits")):
            self.assertTrue(diagnosis["advice_here"].startswith("$ export CPLUS_INCLUDE_PATH="),
                            diagnosis)
            self.assertIn(diagnosis["advice_here"], run.stdout)
        section = self.section(run)
        self.assertIn("ROCM-HIPRTC-HEADERS  (certain, error, kernel build)", section)
        self.assertIn("probe: rocm.hiprtc_headers no: HIPRTC of HIP 7.", section)
        self.assertIn("  diagnosis: ROCM-HIPRTC-HEADERS (certain), see below",
                      run.details("norm/batch_norm[float32]", "cuda:0").splitlines())

    def test_the_advice_cures(self):
        """What was advised is done, and asked again."""
        sick = self.one(self.story(self.libraries, WITHOUT_CXX), "ROCM-HIPRTC-HEADERS")
        if not sick["advice_here"]:
            self.skipTest("this machine has no libstdc++ headers")
        name, path = sick["advice_here"].removeprefix("$ export ").split("=", 1)
        cured = self.story(self.libraries, {**WITHOUT_CXX, name: path})
        self.assertTrue(self.one(cured, "ROCM-HIPRTC-HEADERS")["withdrawn"], cured)

    def test_refuted(self):
        if not any(pathlib.Path("/usr/include/c++").glob("[0-9]*/type_traits")):
            self.skipTest("this machine has no libstdc++ headers")
        run = self.story(self.libraries)
        self.assertTrue(self.one(run, "ROCM-HIPRTC-HEADERS")["withdrawn"], run)
        self.assertNotIn("ROCM-HIPRTC-HEADERS", self.codes(run))
        self.assertIn("not ROCM-HIPRTC-HEADERS: the text looks like it, but rocm.hiprtc_headers "
                      "yes: HIPRTC of HIP 7.", " ".join(self.section(run).split()))

    def test_without_hiprtc(self):
        run = self.story(None)
        self.assertEqual(self.codes(run), {"ROCM-HIPRTC-HEADERS": "likely"}, run)


if __name__ == "__main__":
    support.main()
