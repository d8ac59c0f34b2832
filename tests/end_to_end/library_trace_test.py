# SPDX-License-Identifier: Apache-2.0
"""assay run --trace-libs: on the simulated ROCm device, whose double of MIOpen, rocBLAS and
hipBLASLt logs when its variables are set, and on the CPU."""
import support

CHECKS = ["conv/conv2d", "linear/addmm", "linear/mm", "elementwise/add"]
LOGS = "library_logs=on"


class TraceTest(support.SharedCeilings, support.EndToEndTest):
    def run_traced(self, *arguments, switches=LOGS, enable=(), evidence=False, env=None, **more):
        more.setdefault("torch", support.SIMULATED)
        run = self.run_checks(*arguments, enable=enable or CHECKS, evidence=evidence,
                              env={"SIMULATED_ROCM": switches, **(env or {})}, **more)
        self.assertEqual(run.status, 0, run)
        return run

    def trace(self, run, check):
        found = [line for line in run.of_kind("library_trace") if line["id"].split("[")[0] == check]
        self.assertEqual(len(found), 1, run)
        return found[0]

    def served(self, run, check):
        return [(one["library"], one["what"]) for one in self.trace(run, check)["served"]
                if one["library"] != "profiler"]

    def block(self, run):
        """The lines of the report's block."""
        lines = run.stdout.splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith("Served by "))
        return lines[begin + 1:lines.index("", begin)]


@support.needs_torch
class OnRocm(TraceTest):
    whole = None

    def traced(self):
        """One run of all for several tests."""
        OnRocm.whole = OnRocm.whole or self.run_traced("--trace-libs", evidence=True)
        return OnRocm.whole

    def test_names_library_and_solver(self):
        run = self.traced()
        self.assertEqual(self.served(run, "conv/conv2d"), [("MIOpen", "ConvBinWinogradRxSf2x3")])
        conv = self.trace(run, "conv/conv2d")
        self.assertEqual((conv["state"], conv["why"]),
                         ("known", "rocBLAS and hipBLASLt logged nothing"))
        self.assertIn("conv float32 n=", conv["served"][0]["detail"])
        self.assertIn("kernel simulated_miopen_convolution_kernel", conv["served"][0]["detail"])
        self.assertEqual(self.served(run, "linear/addmm"), [("hipBLASLt", "solution 2010")])
        [(library, what)] = self.served(run, "linear/mm")
        self.assertEqual(library, "rocBLAS")
        self.assertIn("gemm", what)
        self.assertIn(" m=", self.trace(run, "linear/mm")["served"][0]["detail"])
        add = self.trace(run, "elementwise/add")
        self.assertEqual((add["state"], add["why"]),
                         ("unknown", "MIOpen, rocBLAS and hipBLASLt logged nothing"))
        self.assertEqual([(one["library"], one["what"]) for one in add["served"]],
                         [("profiler", "simulated_add_kernel")])
        block = " ".join(" ".join(self.block(run)).split())
        for text in ("conv/conv2d[float32] MIOpen ConvBinWinogradRxSf2x3 (conv float32 n=",
                     "linear/addmm[float32] hipBLASLt solution 2010 (matmul float32 m=",
                     "elementwise/add[float32] kernel simulated_add_kernel",
                     "library not known of elementwise/add[float32]: MIOpen, rocBLAS and hipBLASLt "
                     "logged nothing"):
            self.assertIn(text, block)

    def test_variables_are_on_in_the_trace_workers_only(self):
        """The double prints to standard error where MIOpen would: no other run has a line of it."""
        run = self.traced()
        for result in run.results:
            self.assertEqual((result["stderr_bytes"], result["stdout_bytes"]), (0, 0), result["id"])
        for line in run.of_kind("evidence"):
            self.assertNotIn("MIOpen", line["stderr"])  # LibTorch's profiler may say something
        workers = [line["worker"] for line in run.of_kind("library_trace")]
        self.assertEqual(len(set(workers)), len(CHECKS))  # each has one of its own
        others = {record["worker"] for kind in ("result", "evidence")
                  for record in run.of_kind(kind)}
        self.assertFalse(others & set(workers))
        kinds = [record["record"] for record in run.records]
        last = max(i for i, kind in enumerate(kinds) if kind in ("result", "evidence"))
        self.assertLess(last, kinds.index("library_trace"))
        self.assertEqual([kind for kind in kinds if kind == "worker"], [])

    def test_nothing_else_changes(self):
        plain = self.run_traced(evidence=True)
        traced = self.traced()
        self.assertEqual(plain.of_kind("library_trace"), [])
        self.assertNotIn("Served by", plain.stdout)
        for kind in ("starting", "result", "evidence"):
            ids = [[(record["id"], record["worker"]) for record in run.of_kind(kind)
                    if record.get("purpose") != "library_trace"] for run in (plain, traced)]
            self.assertEqual(ids[0], ids[1], kind)
        for result in traced.results:
            other = plain.result(result["id"])
            self.assertEqual((result["status"], result["outputs"], result["timing"]["calls"]),
                             (other["status"], other["outputs"], other["timing"]["calls"]))
        self.assertEqual(plain.summary["checks"], traced.summary["checks"])

    def test_without_evidence(self):
        run = self.run_traced("--trace-libs", enable=["conv/conv2d"])
        self.assertEqual(self.served(run, "conv/conv2d"), [("MIOpen", "ConvBinWinogradRxSf2x3")])
        self.assertIn("MIOpen ConvBinWinogradRxSf2x3", "\n".join(self.block(run)))

    def test_slow_reference_kernel(self):
        run = self.run_traced("--trace-libs", enable=["conv/conv2d"],
                              switches=LOGS + ";slow_path=miopen_convolution")
        self.assertEqual(self.served(run, "conv/conv2d"), [("MIOpen", "ConvDirectNaiveConvFwd")])
        self.assertIn("MIOpen's slow reference kernel",
                      self.trace(run, "conv/conv2d")["served"][0]["detail"])

    def test_the_users_own_settings_do_not_get_in_the_way(self):
        run = self.run_traced("--trace-libs", enable=["linear/addmm"],
                              env={"HIPBLASLT_LOG_LEVEL": "1"})
        self.assertEqual(self.served(run, "linear/addmm"), [("hipBLASLt", "solution 2010")])

    def test_libraries_that_log_nothing(self):
        run = self.run_traced("--trace-libs", enable=["conv/conv2d"], switches="")
        line = self.trace(run, "conv/conv2d")
        self.assertEqual((line["state"], line["why"], line["served"]),
                         ("unknown", "MIOpen, rocBLAS and hipBLASLt logged nothing", []))

    def test_a_crash_is_traced_and_a_hang_is_not(self):
        run = self.run_checks("--trace-libs", "--timeout", "3", torch=support.SIMULATED,
                              enable=["conv/conv2d", "elementwise/add"],
                              env={"SIMULATED_ROCM": LOGS + ";crash=miopen_convolution;hang=add"})
        self.assertEqual(run.status, 1, run)
        conv = self.trace(run, "conv/conv2d")
        self.assertEqual(conv["served"][0]["what"], "ConvBinWinogradRxSf2x3")
        self.assertIn("with the logs on it ended as crash", conv["why"])
        add = self.trace(run, "elementwise/add")
        self.assertEqual((add["state"], add["why"], add["worker"]),
                         ("unknown", "the check passed its deadline when it was timed", None))


@support.needs_torch
class OnCpu(TraceTest):
    def test_onednn(self):
        run = self.run_traced("--trace-libs", device="cpu", torch=support.TORCH,
                              enable=["conv/conv2d", "elementwise/add"])
        conv = self.trace(run, "conv/conv2d")
        if conv["state"] == "unknown":  # a LibTorch without oneDNN
            self.assertEqual(conv["why"], "oneDNN logged nothing")
        else:
            self.assertEqual(conv["served"][0]["library"], "oneDNN")
            self.assertIn("convolution float32 ", conv["served"][0]["detail"])
        self.assertEqual(self.trace(run, "elementwise/add")["state"], "unknown")
        self.assertIn("oneDNN logged", self.trace(run, "elementwise/add")["why"])
        self.assertEqual(self.block(run)[-1].strip(),
                         "Of the CPU's libraries only oneDNN can be traced.")


if __name__ == "__main__":
    support.main()
