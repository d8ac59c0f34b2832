# SPDX-License-Identifier: Apache-2.0
"""What checks and plugins require: skipped where it is missing, with what is needed and what is here."""
import support

REQUIRING = support.TREE / "tests" / "requiring"
NEW = "it needs LibTorch 99.1 or newer, and this is "


class RequirementsTest(support.EndToEndTest):
    def run_requiring(self, *arguments, enable=("requiring",), **more):
        run = self.run_checks("--plugin-dir", REQUIRING, *arguments, enable=enable, **more)
        self.assertEqual(run.status, 0, run)
        return run

    def skipped(self, run):
        """{check: why}, of those that were skipped; the others are to have ended well."""
        reasons = {}
        started = {record["id"] for record in run.of_kind("starting")}
        for result in run.results:
            if result["status"] == "skipped":
                self.assertEqual((result["error"]["type"], result["error"]["message"],
                                  result["worker"], result["phase"]),
                                 ("requirement", result["note"], None, None))
                self.assertNotIn(result["id"], started)
                self.assertIn(result["note"], " ".join(run.stdout.split()))
                reasons[result["name"]] = result["note"]
            else:
                self.assertEqual(result["status"], "ok", result)
                self.assertIn(result["id"], started)
        self.assert_counts(run, checks=len(run.results), skipped=len(reasons),
                           on_device=len(run.results) - len(reasons))
        return reasons


class Shown(RequirementsTest):
    def test_list_and_show(self):
        listed = self.assay("list", "--plugin-dir", REQUIRING, "--enable", "requiring*")
        text = [" ".join(line.replace("float16 bfloat16 float64", "").split())
                for line in listed.stdout.splitlines()]
        self.assertIn("requiring/nothing float32", text)
        self.assertIn("requiring/gfx0000 float32 needs gfx1032 or gfx00*", text)
        self.assertIn("requiring/this_torch float32 needs LibTorch 2.0 or newer; LibTorch older "
                      "than 99", text)
        self.assertIn("requiring/little_memory float32 needs 1.0 MiB of free memory", text)
        self.assertIn("requiring_plugin/more float32 needs LibTorch 99.1 or newer; rocm", text)
        shown = self.assay("show", "requiring_plugin/more", "--plugin-dir", REQUIRING)
        self.assertIn("\nneeds LibTorch 99.1 or newer; rocm\n", shown.stdout)
        ids = self.assay("run", "--list-only", "--plugin-dir", REQUIRING, "--enable", "requiring*")
        self.assertIn("requiring/rocm[float32]\n", ids.stdout)
        self.assert_one_line(ids, "13 of these require something of the device or of LibTorch")


@support.needs_torch
class OnTheCpu(RequirementsTest):
    def test_each(self):
        run = self.run_requiring(device="cpu")
        torch = run.engine["torch_version"]
        cpu = run.engine["devices"][0]["architecture"]
        skipped = self.skipped(run)
        self.assertRegex(skipped.pop("much_memory"),
                         r"^it needs 1048576\.0 GiB of free memory, and cpu has \d+\.\d GiB$")
        self.assertEqual(skipped, {
            "rocm": "it needs rocm, and the device is the cpu",
            "gfx0000": f"it needs the architecture gfx1032 or gfx00*, and cpu is {cpu}",
            "gfx9": f"it needs the architecture gfx9*, and cpu is {cpu}",
            "old_torch": f"it needs LibTorch older than 1.13, and this is {torch}",
            "new_torch": NEW + torch,
            "several": "it needs cuda, and the device is the cpu; it needs LibTorch older than "
                       f"1.13, and this is {torch}",
        })
        unmet = {check["id"]: check.get("unmet") for check in run.one("schedule")["checks"]}
        self.assertEqual(unmet["requiring/new_torch[float32]"], NEW + torch)
        self.assertIsNone(unmet["requiring/much_memory[float32]"])

    def test_nothing_left_to_run(self):
        run = self.run_checks("--plugin-dir", REQUIRING, "--junit", "junit.xml", device="cpu",
                              enable=["requiring_plugin"])
        self.assertEqual(run.status, 4, run)
        self.assertEqual(set(self.skipped(run)), {"plain", "more"})
        self.assertIn(f'<skipped message="{NEW}',
                      (self.folder / "junit.xml").read_text(encoding="utf-8"))


@support.needs_torch
class OnTheSimulatedDevice(RequirementsTest):
    def run_on_rocm(self, *arguments, switches=None, **more):
        return self.run_requiring(*arguments, torch=support.SIMULATED,
                                  env={"SIMULATED_ROCM": switches}, **more)

    def test_each(self):
        run = self.run_on_rocm()
        torch = run.engine["torch_version"]
        self.assertEqual(self.skipped(run), {
            "cuda_or_cpu": "it needs cuda or cpu, and cuda:0 is of a rocm build",
            "gfx9": "it needs the architecture gfx9*, and cuda:0 is gfx0000 (simulated)",
            "old_torch": f"it needs LibTorch older than 1.13, and this is {torch}",
            "new_torch": NEW + torch,
            "much_memory": "it needs 1048576.0 GiB of free memory, and cuda:0 has 192.0 MiB",
            "several": "it needs cuda, and cuda:0 is of a rocm build; it needs LibTorch older than "
                       f"1.13, and this is {torch}",
        })
        # The question about memory is asked again in a fresh worker, where the rest then runs.
        workers = {result["name"]: result["worker"] for result in run.results}
        self.assertEqual((workers["little_memory"], workers["arithmetic"]), (1, 2))

    def test_arithmetic(self):
        run = self.run_on_rocm(switches="missing=aten::add",
                               enable=["requiring/arithmetic", "requiring/nothing"])
        self.assertRegex(self.skipped(run)["arithmetic"],
                         "^it needs arithmetic in float32, and cuda:0 cannot add in it: "
                         "Could not run 'aten::add")

    def test_a_device_that_dies_of_the_question(self):
        run = self.run_checks("--plugin-dir", REQUIRING, torch=support.SIMULATED,
                              env={"SIMULATED_ROCM": "crash=aten::add"},
                              enable=["requiring/arithmetic", "requiring/rocm"])
        self.assertEqual(run.status, 3, run)
        self.assertRegex(self.skipped(run)["arithmetic"],
                         "^it needs arithmetic in float32, and whether cuda:0 has it is not "
                         "known: asked, the process died of SIG")
        self.assertRegex(run.one("worker")["reason"], "^asking cuda:0 what it has")


if __name__ == "__main__":
    support.main()
