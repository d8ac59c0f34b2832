# SPDX-License-Identifier: Apache-2.0
"""`assay explain` and `assay doctor`, without LibTorch: any log, any tree, and plugins that
misbehave."""
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import time
import unittest

import support

PATIENT = ("--probe-timeout", "60")  # on a slow machine under load
DIAGNOSTICS = support.PLANTED_DIAGNOSTICS
TREES = pathlib.Path(__file__).resolve().parent.parent / "diag_rocm" / "trees"
MAKE_SYSROOT = support.TREE / "tests" / "make_sysroot"

MIOPEN = """\
MIOpen(HIP): Error [BuildHip] HIPRTC status = HIPRTC_ERROR_COMPILATION (6), source file: MIOpenBatchNormFwdTrainSpatial.cpp
/tmp/comgr-1/include/miopen_type_traits.hpp:30:10: fatal error: 'type_traits' file not found
RuntimeError: miopenStatusUnknownError
"""

RULES = """\
[pack]
format = 1
id = "acme"
version = "1.0"
vendor = "Acme"

[[diagnosis]]
code = "ACME-FLUX"
class = "acme_flux"
title = "The flux capacitor is empty"
category = "user error"
severity = "error"
since = "1.0"
cause = "It was not filled."
advice.any = ["Fill it:", "$ acme-fill --all"]

[[diagnosis.rule]]
all = ["acme: flux * is empty"]
confidence = "likely"
"""


class DiagnosisTest(support.EndToEndTest):
    def explain(self, text, *options, **more):
        """(run, its JSON) of a log on standard input."""
        run = self.assay("explain", "--json", *options, "-", input=text, **more)
        self.assertNotIn("internal error", run.stderr, run)
        return run, json.loads(run.stdout)

    def explain_bytes(self, data, *options):
        file = self.folder / "log"
        file.write_bytes(data)
        run = self.assay("explain", "--json", *options, file)
        self.assertNotIn("internal error", run.stderr, run)
        return run, json.loads(run.stdout)

    def rules(self, name, text):
        folder = self.folder / "rules"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.assay.toml").write_text(text, encoding="utf-8")
        return folder


class Explain(DiagnosisTest):
    def test_file_and_standard_input(self):
        file = self.folder / "run.log"
        file.write_text(MIOPEN, encoding="utf-8")
        of_file = self.assay("explain", file)
        self.assertEqual((of_file.status, of_file.stderr), (0, ""), of_file)
        lines = of_file.stdout.splitlines()
        self.assertEqual(lines[0], "ROCM-HIPRTC-HEADERS  (likely, error, kernel build)")
        self.assertIn("fatal error: 'type_traits' file not found", of_file.stdout)
        self.assertIn("libstdc++", of_file.stdout)
        for arguments in (("explain", "-"), ("explain",)):
            piped = self.assay(*arguments, input=MIOPEN)
            self.assertEqual((piped.status, piped.stdout), (0, of_file.stdout), piped)

    def test_json(self):
        run, answer = self.explain(MIOPEN)
        self.assertEqual((run.status, answer["class"], answer["code"], answer["lines"]),
                         (0, "miopen_hiprtc_missing_header", "ROCM-HIPRTC-HEADERS", 3))
        best = answer["diagnoses"][0]
        self.assertEqual((best["confidence"], best["severity"], best["withdrawn"],
                          best["consequence_of"]), ("likely", "error", False, None))
        self.assertTrue(any("'type_traits' file not found" in line for line in best["evidence"]))
        self.assertEqual(set(best["advice"]), {"any", "linux", "wsl", "windows"})
        self.assertTrue(best["references"])

    def test_advice_is_for_the_log_s_platform(self):
        windows = MIOPEN.replace("/tmp/comgr-1/include/", "C:\\Users\\me\\AppData\\comgr-1\\")
        run = self.assay("explain", "-", input=windows)
        self.assertIn("$ winget install", run.stdout)
        self.assertNotIn("apt-get", run.stdout)
        run = self.assay("explain", "--platform", "linux", "-", input=windows)
        self.assertIn("apt-get", run.stdout)
        self.assertNotIn("winget", run.stdout)

    def test_unknown(self):
        log = "step 1\nstep 2\nKeyError: 'rate'\nPermission denied: /srv/x\nthe end\n"
        run = self.assay("explain", "-", input=log)
        self.assertEqual((run.status, run.stderr), (1, ""), run)
        self.assertIn("unknown: no rule recognises anything in these 5 lines", run.stdout)
        self.assertIn("      3: KeyError: 'rate'\n", run.stdout)
        self.assertIn("      4: Permission denied: /srv/x\n", run.stdout)
        self.assertNotIn("step 1", run.stdout)
        run, answer = self.explain(log)
        self.assertEqual((run.status, answer["class"], answer["code"], answer["diagnoses"]),
                         (1, "unknown", None, []))
        self.assertEqual([line["line"] for line in answer["suspicious_lines"]], [3, 4])

    def test_no_line_looks_like_an_error(self):
        run = self.assay("explain", "-", input="step 1\nstep 2\n")
        self.assertEqual(run.status, 1, run)
        self.assertIn("Is it the whole log?", run.stdout)

    def test_empty(self):
        run = self.assay("explain", "-", input="")
        self.assertEqual((run.status, run.stdout), (1, "unknown: the log is empty\n"), run)

    def test_garbage(self):
        data = os.urandom(300_000) + MIOPEN.encode() + b"\n\0\xff" + os.urandom(1000)
        run, answer = self.explain_bytes(data)
        self.assertEqual((run.status, answer["code"]), (0, "ROCM-HIPRTC-HEADERS"), run)
        # A classifier gets the text, too.
        run, answer = self.explain_bytes(b"\xff\xfe\xfd out of memory \x80\n\xc3(\n" + bytes(99))
        self.assertEqual(answer["remarks"], [], run)

    def test_utf16(self):
        for encoding in ("utf-16-le", "utf-16-be"):
            log = "\ufeff" + MIOPEN.replace("\n", "\r\n")
            run, answer = self.explain_bytes(log.encode(encoding))
            self.assertEqual((answer["code"], answer["lines"]), ("ROCM-HIPRTC-HEADERS", 3), run)

    def test_utf16_without_a_mark(self):
        run, answer = self.explain_bytes(MIOPEN.encode("utf-16-le"))
        self.assertEqual((answer["code"], answer["lines"]), ("ROCM-HIPRTC-HEADERS", 3), run)

    def test_a_harmless_notice_does_not_hide_an_error(self):
        harmless = "amdgpu.ids: No such file or directory\n" * 2
        run = self.assay("explain", "-", input=harmless)
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        self.assertNotIn("look like errors", run.stdout)
        log = harmless + "RuntimeError: the frobnicator is sad\n"
        run = self.assay("explain", "-", input=log)
        self.assertEqual(run.status, 1, run)
        self.assertTrue(run.stdout.endswith(
            "\nThese lines look like errors, and nothing above explains them:\n"
            "      3: RuntimeError: the frobnicator is sad\n"), run)
        run, answer = self.explain(log)
        self.assertEqual((run.status, [line["line"] for line in answer["unexplained_lines"]]),
                         (1, [3]), run)
        # An error that is known speaks for the whole log.
        run = self.assay("explain", "-", input=log + MIOPEN)
        self.assertEqual(run.status, 0, run)
        self.assertNotIn("look like errors", run.stdout)

    def test_colours_and_progress_bars(self):
        coloured = MIOPEN.replace("fatal error", "fatal\x1b[0m \x1b[1merror")
        log = "10%\r50%\r100%\n\x1b[31m" + coloured
        run, answer = self.explain(log)
        self.assertEqual(answer["code"], "ROCM-HIPRTC-HEADERS", run)
        self.assertNotIn("\x1b", json.dumps(answer, ensure_ascii=False))

    def test_what_is_no_log(self):
        for name in ("missing.log", "."):
            run = self.assay("explain", name)
            self.assertEqual((run.status, run.stdout), (2, ""), run)
            self.assert_one_line(run, "cannot be read; name a file that you may read, or - for "
                                      "standard input")

    def test_long_logs(self):
        """1 MB quickly; 20 MB in bounded memory, the error in the middle."""
        line = "INFO  step 17 of 1000: nothing to see here, all is well\n"
        file = self.folder / "long.log"
        file.write_text(line * (1_000_000 // len(line)) + MIOPEN, encoding="utf-8")
        times = []
        for _ in range(3):
            begin = time.monotonic()
            run = self.assay("explain", file)
            times.append(time.monotonic() - begin)
            self.assertTrue(run.stdout.startswith("ROCM-HIPRTC-HEADERS"), run)
        self.assertLess(min(times), 1.0)  # 50 ms on an idle machine; the benchmarks measure that
        many = line * (10_000_000 // len(line))
        with open(file, "w", encoding="utf-8") as log:
            log.write(many + MIOPEN + many + "RuntimeError: the end\n" * 10_000 + "x" * 1_000_000)
        code = ("import resource, subprocess, sys\n"
                "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
                "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n")
        done = subprocess.run(["python3", "-c", code, str(support.ASSAY), "explain", str(file)],
                              env=support.clean_environment(self.home), cwd=self.folder,
                              capture_output=True, text=True, timeout=support.PATIENCE, check=True)
        status, kilobytes = (int(word) for word in done.stdout.split())
        self.assertEqual(status, 0)
        self.assertLess(kilobytes, 60 * 1024)

    def test_out_of_memory_is_judged_by_its_numbers(self):
        """A classifier, in a process of its own."""
        run, answer = self.explain(
            "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a "
            "total capacity of 15.98 GiB of which 400.00 MiB is free. Of the allocated memory 9.10 "
            "GiB is allocated by PyTorch, and 5.90 GiB is reserved by PyTorch but unallocated.\n")
        best = answer["diagnoses"][0]
        self.assertEqual((best["class"], best["by"]),
                         ("oom_fragmentation", "classifier torch.out_of_memory"), run)

    def test_on_this_machine_probes_are_asked(self):
        run, answer = self.explain(MIOPEN, "--here", *PATIENT)
        [asked] = [probe for d in answer["diagnoses"] for probe in d["probes"]
                   if probe.startswith("rocm.hiprtc_headers ")][:1]
        self.assertIn(answer["diagnoses"][0]["confidence"], ("likely", "certain"), asked)
        _, answer = self.explain(MIOPEN)
        self.assertEqual([d["probes"] for d in answer["diagnoses"] if d["probes"]], [], run)


class RuleFiles(DiagnosisTest):
    def test_of_others(self):
        folder = self.rules("acme", RULES)
        run = self.assay("explain", "--plugin-dir", folder, "-",
                         input="acme: flux tank 3 is empty\n")
        self.assertEqual((run.status, run.stderr), (0, ""), run)
        self.assertEqual(run.stdout, "ACME-FLUX  (likely, error, user error)\n"
                                     "  The flux capacitor is empty\n"
                                     "  why:  It was not filled.\n"
                                     "  seen: acme: flux tank 3 is empty\n"
                                     "  do:   Fill it:\n"
                                     "        $ acme-fill --all\n")

    def test_a_folder_with_nothing_else(self):
        """A rule file alone is a whole plugin, to every command."""
        folder = self.rules("acme", RULES)
        for command in (["list"], ["show", "elementwise/add"], ["run", "--list-only"],
                        ["explain", "-"], ["doctor", *PATIENT]):
            run = self.assay(*command, "--plugin-dir", folder, input="")
            self.assertEqual(run.stderr, "", run)
        empty = self.folder / "empty"
        empty.mkdir()
        run = self.assay("list", "--plugin-dir", empty)
        self.assert_one_line(run, "no plugin lies in", "ends in .assay.so", ".assay.toml")

    def test_a_probe_that_nobody_has(self):
        folder = self.rules("acme", RULES + 'probe = "acme.none"\nconfirmed_by = "no"\n')
        words = "rule ACME-FLUX #1 names the probe acme.none, which no plugin that was loaded has"
        self.assert_one_line(self.assay("list", "--plugin-dir", folder), words)
        run = self.assay("doctor", "--json", *PATIENT, "--plugin-dir", folder)
        self.assertEqual(json.loads(run.stdout)["remarks"], [words], run)
        run = self.assay("explain", "--here", "--plugin-dir", folder, "-",
                         input="acme: flux tank 3 is empty\n")
        self.assertIn("probe: acme.none unknown: no plugin that was loaded has this probe",
                      run.stdout)

    def test_refuted_here_and_now(self):
        """The log may be of another environment, and says so louder than what is left."""
        flux, _, more = RULES.partition("[[diagnosis]]")
        folder = self.rules("acme", flux + "[[diagnosis]]"
                            + more.replace("cause =", 'explains = ["ACME-DRY"]\ncause =')
                            + 'probe = "rocm.override"\nrefuted_by = "yes"\n[[diagnosis]]'
                            + more.replace("ACME-FLUX", "ACME-DRY")
                            .replace("acme_flux", "acme_dry").replace("flux * is empty", "it is dry"))
        log = "acme: flux 1 is empty\nacme: it is dry\n"
        run = self.assay("explain", "--here", *PATIENT, "--plugin-dir", folder, "-", input=log,
                         env={"HSA_OVERRIDE_GFX_VERSION": None})
        self.assertEqual(run.status, 0, run)
        self.assertEqual(run.stdout.splitlines()[0], "ACME-DRY  (likely, error, user error)", run)
        self.assertIn("  but:  the log also shows ACME-FLUX, which would explain this; see below\n",
                      run.stdout)
        self.assertIn("\nACME-FLUX  (not so in this environment now)\n", run.stdout)
        self.assertIn("probe: rocm.override yes: ", run.stdout)
        self.assertIn("The program's own environment may differ",
                      " ".join(run.stdout.split()))
        run = self.assay("explain", "--here", *PATIENT, "--plugin-dir", folder, "-",
                         input="acme: flux 1 is empty\n", env={"HSA_OVERRIDE_GFX_VERSION": None})
        self.assertEqual(run.status, 1, run)
        self.assertIn("ACME-FLUX  (not so in this environment now)", run.stdout)

    def test_consequences_stand_below_their_cause(self):
        other = RULES.split("[[diagnosis]]")[1]
        folder = self.rules("acme", RULES.replace("cause =", 'explains = ["ACME-DRY"]\ncause =')
                            + "[[diagnosis]]" + other.replace("ACME-FLUX", "ACME-DRY")
                            .replace("acme_flux", "acme_dry").replace("flux * is empty", "it is dry")
                            + "[[diagnosis]]" + other.replace("ACME-FLUX", "ACME-LAST")
                            .replace("acme_flux", "acme_last").replace("flux * is empty", "last one"))
        run = self.assay("explain", "--plugin-dir", folder, "-",
                         input="acme: it is dry\nacme: flux 1 is empty\nacme: last one\n")
        self.assertEqual(run.status, 0, run)
        lines = [line for line in run.stdout.splitlines() if "ACME-" in line]
        self.assertEqual(lines, [
            "ACME-FLUX  (likely, error, user error)",
            "  ACME-DRY is a consequence of ACME-FLUX: The flux capacitor is empty",
            "ACME-LAST  (likely, error, user error)"], run)

    def test_broken(self):
        """It is named, in one line, and all others are used."""
        self.rules("acme", RULES)
        folder = self.rules("broken", RULES.replace("acme", "other").replace("ACME", "OTHER")
                            .replace("confidence", "confidnce"))
        run = self.assay("explain", "--plugin-dir", folder, "-",
                         input="acme: flux tank 3 is empty\n" + MIOPEN)
        self.assertEqual(run.status, 0, run)
        self.assert_one_line(run, "broken.assay.toml is not used: line ",
                             "no key 'confidnce'; did you mean 'confidence'?",
                             "mend the file, or take it away")
        self.assertIn("ACME-FLUX", run.stdout)
        self.assertIn("ROCM-HIPRTC-HEADERS", run.stdout)

    def test_twice(self):
        self.rules("acme", RULES)
        folder = self.rules("other", RULES.replace('id = "acme"', 'id = "other"'))
        run = self.assay("explain", "--plugin-dir", folder, "-", input="acme: flux x is empty\n")
        self.assertEqual(run.status, 0, run)
        self.assert_one_line(run, "other.assay.toml is not used", "the code ACME-FLUX is taken")

    def test_that_everybody_may_write(self):
        folder = self.rules("acme", RULES)
        (folder / "acme.assay.toml").chmod(0o666)
        log = "acme: flux x is empty\n"
        run = self.assay("explain", "--plugin-dir", folder, "-", input=log)
        self.assertEqual(run.status, 1, run)
        self.assert_one_line(run, "may be written by everybody", "--trust-plugins")
        run = self.assay("explain", "--trust-plugins", "--plugin-dir", folder, "-", input=log)
        self.assertEqual((run.status, run.stderr), (0, ""), run)


class Misbehaving(DiagnosisTest):
    """Each fault costs its own answer only, and is named."""

    FAULTS = {"aborts": "it ended its process (SIGABRT); it printed last: planted: about to abort",
              "crashes": "it ended its process (SIGSEGV); it printed last: planted: about to crash",
              "exits": "it ended its process (exit status 0)",
              "hangs": "it did not answer within ",
              "throws": "planted: it threw"}

    def test_classifiers(self):
        run, answer = self.explain("planted\n", "--plugin-dir", DIAGNOSTICS)
        self.assertEqual(run.status, 0, run)
        found = {d["code"]: d for d in answer["diagnoses"]}
        self.assertEqual(set(found), {"PLANTED-NOTHING", "PLANTED-NONSENSE"})
        self.assertEqual(found["PLANTED-NOTHING"]["confidence"], "likely")
        self.assertEqual(found["PLANTED-NONSENSE"]["confidence"], "possible")
        self.assertEqual([len(line) for line in found["PLANTED-NONSENSE"]["evidence"]], [400, 3])
        self.assertEqual(len(answer["remarks"]), len(self.FAULTS) + 1, answer["remarks"])
        for fault, words in self.FAULTS.items():
            self.assertTrue(any(remark.startswith(f"classifier planted_{fault}.classifier: {words}")
                                for remark in answer["remarks"]), (fault, answer["remarks"]))
        self.assertIn("classifier planted_nonsense.classifier answered 'NO-SUCH-CODE', which no "
                      "rule file has as a code", answer["remarks"])

    def test_probes(self):
        run = self.assay("doctor", "--json", "--probe-timeout", "2", "--plugin-dir", DIAGNOSTICS)
        answer = json.loads(run.stdout)
        probes = {probe["id"]: probe for probe in answer["probes"]}
        for fault, words in self.FAULTS.items():
            probe = probes[f"planted_{fault}.probe"]
            self.assertEqual((probe["state"], probe["findings"]), ("unknown", []), probe)
            self.assertTrue(probe["fact"].startswith(words), probe)
        self.assertIn("PLANTED-NOTHING", [d["code"] for d in answer["diagnoses"]])
        self.assertEqual(len([remark for remark in answer["remarks"]
                              if "planted_nonsense.probe found NO-SUCH-CODE" in remark]), 1)
        self.assertNotEqual(probes["system.glibc"]["fact"], "")
        self.assertEqual(run.status, 1)  # of PLANTED-NOTHING

    def test_probes_of_rules(self):
        run, answer = self.explain("planted rule nothing\nplanted rule crashes\n", "--here",
                                   "--probe-timeout", "2", "--plugin-dir", DIAGNOSTICS)
        found = {d["code"]: d for d in answer["diagnoses"]}
        self.assertEqual(found["PLANTED-NOTHING"]["confidence"], "certain", run)
        self.assertEqual(found["PLANTED-CRASHES"]["confidence"], "likely", run)
        self.assertIn("planted_crashes.probe unknown: it ended its process (SIGSEGV)",
                      found["PLANTED-CRASHES"]["probes"][0])


@unittest.skipUnless(MAKE_SYSROOT.exists(), "tests/make_sysroot is not built")
class Doctor(DiagnosisTest):
    def doctor(self, tree):
        root = self.folder / "root"
        subprocess.run([MAKE_SYSROOT, TREES / f"{tree}.tree", root], check=True)
        run = self.assay("doctor", "--json", *PATIENT, "--sysroot", root)
        shutil.rmtree(root)
        self.assertNotIn("internal error", run.stderr)
        answer = json.loads(run.stdout)
        self.assertEqual(answer["exit_status"], run.status)
        self.assertIsNone(answer["torch_dir"])  # that of this machine is none of that tree's
        broken = any(d["severity"] == "error" for d in answer["diagnoses"])
        self.assertEqual(run.status, 1 if broken else 0, run)
        return [d["code"] for d in answer["diagnoses"]], answer

    def test_trees(self):
        healthy, answer = self.doctor("rx6650xt")
        rocm = [code for code in healthy if code.startswith("ROCM-")]
        self.assertEqual(rocm, [], answer["diagnoses"])
        self.assertTrue(any("gfx1032" in probe["fact"] for probe in answer["probes"]))
        for tree, code in (("rx6650xt_no_group", "ROCM-KFD-PERMISSION"),
                           ("container_no_devices", "ROCM-CONTAINER-DEVICES"),
                           ("no_driver", "ROCM-NO-DRIVER"), ("no_gpu", "ROCM-NO-GPU"),
                           ("wsl_no_gpu", "ROCM-WSL-NO-GPU")):
            found, answer = self.doctor(tree)
            self.assertIn(code, found, answer["diagnoses"])
            [diagnosis] = [d for d in answer["diagnoses"] if d["code"] == code]
            self.assertEqual(diagnosis["confidence"], "certain")
            self.assertTrue(diagnosis["probes"])

    def test_other_trees_are_read(self):
        for tree in ("apu_and_dgpu", "mi300x_x8", "wsl", "unknown_gfx"):
            _, answer = self.doctor(tree)
            self.assertGreater(len(answer["probes"]), 20, tree)
            self.assertEqual(answer["remarks"], [], tree)

    def test_one_cause_is_one_finding_and_one_reason_one_line(self):
        root = self.folder / "root"
        subprocess.run([MAKE_SYSROOT, TREES / "container_no_devices.tree", root], check=True)
        run = self.assay("doctor", *PATIENT, "--sysroot", root)
        lines = run.stdout.splitlines()
        titles = [line for line in lines if line.startswith(("ROCM-", "  ROCM-", "SYSTEM-"))]
        self.assertEqual([title.split("  (")[0] for title in titles], ["ROCM-CONTAINER-DEVICES"], run)
        self.assertTrue(titles[0].startswith("ROCM-CONTAINER-DEVICES  (certain"), run)
        # Probes that say the same share a line.
        unknown = lines[lines.index("Could not be looked at"):]
        self.assertTrue(any(line.startswith("  cuda.* (") for line in unknown), run)
        self.assertEqual(len([line for line in unknown if "no NVIDIA GPU" in line]), 1, run)

    def test_an_empty_tree(self):
        root = self.folder / "empty"
        root.mkdir()
        run = self.assay("doctor", *PATIENT, "--sysroot", root)
        self.assertIn(run.status, (0, 1), run)
        self.assertIn("unknown | ", run.stdout.splitlines()[-1])


class Refused(DiagnosisTest):
    def test_options_that_do_not_go_together(self):
        other = "windows" if os.name != "nt" else "linux"
        for command, *parts in [
                ("explain --catalogue run.log", "--catalogue and 'run.log' do not go together"),
                ("explain --catalogue --here", "--catalogue and --here"),
                (f"explain --here --platform {other}", "--here says that the log is of this machine",
                 f"--platform says {other}"),
                ("explain --probe-prefix true", "--probe-prefix needs --here"),
                ("doctor --architecture foo", "'foo' is not the name of a GPU architecture",
                 "gfx1032 or sm_90"),
                ("doctor --architecture gfx", "is not the name"),
                ("doctor --architecture sm_", "is not the name"),
                ("doctor --architecture 1032", "is not the name")]:
            with self.subTest(command):
                run = self.assay(*command.split(), input="")
                self.assertEqual((run.status, run.stdout), (2, ""), run)
                self.assert_one_line(run, *parts)

    def test_probes_that_cannot_be_started(self):
        for prefix, words in (("no-such-program", "there is no program 'no-such-program'"),
                              ("false", "it ended its process")):
            for command in (["doctor", "--json"], ["doctor"], ["explain", "--here", "-"]):
                run = self.assay(*command, "--probe-prefix", prefix, input=MIOPEN)
                self.assertEqual(run.status, 3, run)
                self.assert_one_line(run, "no probe's process could be started: ", words,
                                     "mend --probe-prefix")
            self.assertIn("ROCM-HIPRTC-HEADERS  (likely", run.stdout)


class DoctorHere(DiagnosisTest):
    def test_page(self):
        run = self.assay("doctor", *PATIENT)
        self.assertIn(run.status, (0, 1), run)
        self.assertEqual(run.stderr, "")
        lines = run.stdout.splitlines()
        self.assertTrue(lines[0].startswith("LibTorch: "), lines[0])
        self.assertRegex(lines[-1], r"^Doctor: (1 finding|\d+ findings) \| \d+ probes \| \d+ unknown \| "
                                    r"\d+\.\d s$")
        self.assertTrue(all(len(line) <= 100 for line in lines
                            if "$ " not in line and "seen:" not in line and "        " not in line))

    def test_quick(self):
        begin = time.monotonic()
        run = self.assay("doctor", "--json", *PATIENT)
        elapsed = time.monotonic() - begin
        self.assertLess(elapsed, 60)  # 2 s on an idle machine
        self.assertLess(json.loads(run.stdout)["elapsed_s"], elapsed + 0.1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    @unittest.skipUnless(shutil.which("setpriv"), "there is no setpriv")
    def test_not_as_root(self):
        try:
            nobody = pwd.getpwnam("nobody")
        except KeyError:
            self.skipTest("there is no user nobody")
        command = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}",
                   "--clear-groups"]
        if subprocess.run([*command, "test", "-x", support.ASSAY], check=False).returncode != 0:
            self.skipTest("nobody may not reach the build tree")
        done = subprocess.run([*command, support.ASSAY, "doctor", "--json", "--trust-plugins",
                               *PATIENT],
                              env=support.clean_environment(pathlib.Path("/nonexistent")), cwd="/",
                              capture_output=True, text=True, timeout=support.PATIENCE, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        answer = json.loads(done.stdout)
        self.assertGreater(len(answer["probes"]), 20)
        self.assertEqual([probe for probe in answer["probes"]
                          if "ended its process" in probe["fact"]], [])


if __name__ == "__main__":
    support.main()
