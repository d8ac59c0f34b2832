# SPDX-License-Identifier: Apache-2.0
"""`assay selftest`: every planted fault is found, on the CPU and on the simulated ROCm device, and
a detector that is blind is told."""
import support


@support.needs_torch
class SelftestTest(support.SharedCeilings, support.EndToEndTest):
    def selftest(self, *arguments, switches=None, **more):
        return self.assay("selftest", "--timeout", "5", *arguments,
                          env={"SIMULATED_ROCM": switches}, **more)

    def test_on_the_cpu(self):
        run = self.selftest("--device", "cpu", "--torch", support.TORCH)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout.splitlines()[-1], "Selftest: 12/12 faults detected, no false alarm", run)
        self.assertIn("cannot be planted on the CPU", run.stdout)

    def test_on_the_simulated_device(self):
        run = self.selftest("--torch", support.SIMULATED)
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout.splitlines()[-1], "Selftest: 15/15 faults detected, no false alarm", run)

    def test_a_blind_profiler_is_no_pass_for_what_it_must_see(self):
        run = self.selftest("--torch", support.SIMULATED, switches="profiler=off")
        self.assertIn("Selftest: ", run.stdout.splitlines()[-1])
        self.assertIn("hidden round trip through the host", run.stdout)

    def test_a_bound_that_is_not_known_says_why(self):
        run = self.selftest("--torch", support.SIMULATED, switches="profiler=off")
        row = next(line for line in run.stdout.splitlines() if line.startswith("waits for"))
        self.assertIn(" NO ", row)
        self.assertIn("bound: not known; speed: unknown, ", row)

    def test_a_false_alarm_is_told(self):
        run = self.selftest("--torch", support.SIMULATED, switches="wrong=aten::relu")
        self.assertEqual(run.status, 1, run)
        self.assertTrue(run.stdout.splitlines()[-1].endswith(", 1 false alarm"), run)

    def test_its_checks_are_in_no_other_run(self):
        run = self.run_checks(device="cpu", enable=["elementwise/add"])
        self.assertNotIn("selftest", " ".join(plugin["file"] for plugin in run.of_kind("plugin")))


if __name__ == "__main__":
    support.main()
