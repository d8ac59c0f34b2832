# SPDX-License-Identifier: Apache-2.0
"""What a result file says of its environment, and what it keeps to itself."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

import support

USER, HOST, SERIAL = "zaphodia", "heartofgold", "SN42X99812"
PLANTED = {"USER": USER, "HOSTNAME": f"{HOST}.example.org", "OMP_NUM_THREADS": "2",
           "MIOPEN_API_KEY": "a-secret", "CUDA_VISIBLE_DEVICES": "GPU-8f6ec2a1-1111-2222-3333-444455556666",
           "NOBODYS_BUSINESS": "private"}

# The double of NVIDIA's management library: two GPUs, the second one held back.
MANAGEMENT = r"""
#include <stdio.h>
#include <string.h>
struct place { char legacy[16]; unsigned domain, bus, device, ids[2]; char bus_id[32]; };
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) { snprintf(text, size, "580.95.05"); return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void** device) { *device = (char*)0 + i + 1; return 0; }
int nvmlDeviceGetPciInfo_v3(void* device, struct place* at) {
  memset(at, 0, sizeof *at); at->bus = device == (char*)0 + 1 ? 0x0a : 0x1b; return 0; }
int nvmlDeviceGetClockInfo(void* device, unsigned kind, unsigned* mhz) { (void)device; *mhz = kind == 1 ? 345 : 2619; return 0; }
int nvmlDeviceGetMaxClockInfo(void* device, unsigned kind, unsigned* mhz) { (void)device; *mhz = kind == 1 ? 1980 : 2619; return 0; }
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* mw) { (void)device; *mw = 700000; return 0; }
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* c) { (void)device; (void)sensor; (void)c; return 3; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) { *bits = device == (char*)0 + 1 ? 1 : 0x44; return 0; }
"""


@unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
class Management(support.EndToEndTest):
    def test_the_worker_asks_nvml(self):
        (self.folder / "nvml.c").write_text(MANAGEMENT, encoding="utf-8")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libnvidia-ml.so.1", "nvml.c"],
                       cwd=self.folder, check=True)
        said = self.clocks(LD_LIBRARY_PATH=self.folder)
        self.assertEqual((said["driver"], said["why"]), ("580.95.05", ""))
        idle, busy = said["cards"]
        self.assertEqual(idle, {"pci": "0000:0a:00.0", "clock_mhz": 345, "clock_max_mhz": 1980,
                                "memory_clock_mhz": 2619, "memory_clock_max_mhz": 2619,
                                "power_w": None, "power_cap_w": 700.0, "temperature_c": None,
                                "throttled": []})
        self.assertEqual(busy["throttled"], ["software power cap", "hardware thermal"])

    def clocks(self, **variables):
        worker = support.TREE / "libexec" / "assay" / "assay-worker"
        setup = {"do": "setup", "stdout_file": str(self.folder / "out"), "plugins": [],
                 "excluded": [], "trust_plugins": False, "overlap": False, "engine": None}
        commands = "".join(json.dumps(one) + "\n" for one in [setup, {"do": "clocks"}, {"do": "quit"}])
        # Its command channel must stay open until it has answered.
        with subprocess.Popen([worker, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=support.clean_environment(self.home, variables), text=True) as process:
            process.stdin.write(commands)
            process.stdin.flush()
            records = [json.loads(line) for line in process.stdout]
        return next(record for record in records if record["record"] == "clocks")


@support.needs_torch
class Environment(support.EndToEndTest):
    def run_planted(self, *arguments, **more):
        """A check that tells everything, from a plugin folder in the planted home."""
        self.home = self.home.parent / "people" / USER
        pack = self.home / "packs"
        if not pack.exists():
            shutil.copytree(support.PLANTED, pack)
        told = f"{self.home}/x, {USER}@{HOST}, Serial Number: {SERIAL}, 52:54:00:ab:cd:ef"
        return self.run_checks("--plugin-dir", pack, "--junit", self.home / "junit.xml", *arguments,
                               device="cpu", enable=["planted/tells", "planted/fine"],
                               env={**PLANTED, "PLANTED_TEXT": told}, **more)

    def test_what_is_recorded(self):
        run = self.run_checks(device="cpu", enable=["planted/fine"], planted=True,
                              env={"OMP_NUM_THREADS": "2", "NOBODYS_BUSINESS": "private"})
        said = run.one("environment")
        self.assertEqual(said["system"]["kernel"], platform.release())
        self.assertEqual(said["system"]["processors"], os.cpu_count())
        self.assertEqual(said["libtorch"]["version"], run.engine["torch_version"])
        version = pathlib.Path(support.TORCH) / "version.py"
        if version.exists():
            self.assertIn(f"'{said['libtorch']['git_hash']}'", version.read_text(encoding="utf-8"))
        self.assertTrue(any("BLAS_INFO=" in line for line in said["libtorch"]["settings"]), said)
        self.assertNotIn("config", run.engine)
        self.assertEqual(said["variables"]["OMP_NUM_THREADS"], "2")
        self.assertNotIn("NOBODYS_BUSINESS", said["variables"])
        for watched in ("OMP_*", "MIOPEN_*", "CUDA_*", "PYTORCH_*"):  # of each diagnostic plugin
            self.assertIn(watched, said["watched_variables"])
        self.assertEqual([record["when"] for record in run.of_kind("clocks")], ["before", "after"])
        self.assertEqual([device["device"] for device in run.of_kind("clocks")[0]["devices"]], ["cpu"])

    def test_nothing_personal_is_written(self):
        run = self.run_planted()
        self.assertEqual(run.result("planted/tells")["status"], "error", run)
        files = [self.folder / "run1.jsonl", self.home / "junit.xml"]
        for file in files:
            text = file.read_text(encoding="utf-8")
            for secret in (USER, HOST, SERIAL, "52:54:00", "8f6ec2a1", "a-secret", str(self.home)):
                self.assertNotIn(secret, text, file)
        told = "planted: ~/x, <user>@<host>, Serial Number: <serial>, <serial>"
        result = run.result("planted/tells")
        self.assertEqual(result["error"]["message"].splitlines()[0], told)
        self.assertEqual(result["stdout"].splitlines()[0], told)
        self.assertIn(told, result["stderr"])
        self.assertEqual(result["warnings"][0]["text"], told)
        variables = run.one("environment")["variables"]
        self.assertEqual(variables["CUDA_VISIBLE_DEVICES"], "GPU-<serial>")
        self.assertEqual(variables["MIOPEN_API_KEY"], "<hidden>")
        self.assertEqual(run.plugin("planted_pack.assay.so")["file"], "~/packs/planted_pack.assay.so")
        xml.parse(files[1])
        self.assertIn(f"{USER}@{HOST}", run.stdout)  # the terminal is this user's own

        # What reads such a file goes on as before.
        again = self.assay("report", files[0], "--markdown")
        self.assertIn("assay run --device cpu --enable 'planted/tells[float32]'", again.stdout)
        same = self.assay("compare", files[0], files[0])
        self.assertEqual(same.status, 0, same)
        self.assertIn("2 checks in both", same.stdout)

    def test_everything_is_written_where_asked_for(self):
        run = self.run_planted("--full-environment")
        self.assertIn(f"{USER}@{HOST}, Serial Number: {SERIAL}",
                      run.result("planted/tells")["error"]["message"])
        self.assertEqual(run.plugin("planted_pack.assay.so")["file"],
                         str(self.home / "packs" / "planted_pack.assay.so"))
        self.assertEqual(run.one("environment")["variables"]["MIOPEN_API_KEY"], "<hidden>")

    def test_a_comparison_begins_with_it(self):
        for count in ("1", "2"):
            self.run_checks(device="cpu", enable=["planted/fine"], planted=True,
                            env={"OMP_NUM_THREADS": "2", "MIOPEN_FIND_MODE": count})
        old, new = self.folder / "run1.jsonl", self.folder / "run2.jsonl"
        run = self.assay("compare", old, new)
        self.assertEqual(run.stdout.splitlines()[:2],
                         ["Environment", "  variable MIOPEN_FIND_MODE: 1 -> 2"], run)
        lines = [line for line in old.read_text(encoding="utf-8").splitlines(keepends=True)
                 if json.loads(line)["record"] not in ("environment", "clocks")]
        old.write_text("".join(lines), encoding="utf-8")
        run = self.assay("compare", old, new)
        self.assertEqual(run.stdout.splitlines()[:3],
                         ["Environment", "  environment record: not recorded -> recorded", ""], run)


if __name__ == "__main__":
    support.main()
