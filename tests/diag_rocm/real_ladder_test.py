#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HIPRTC ladder against AMD's HIPRTC of ROCm 7 and 6: healthy, and with headers taken away."""
import pathlib
import tempfile
import unittest

from real_rocm import Ladder, fetch

GPU = ("--architecture", "gfx1032")
OPTIONS = "HIPRTC_COMPILE_OPTIONS_APPEND"
WITHOUT_CXX = {OPTIONS: "-nostdinc++"}
WITHOUT_TOOL_CHAIN = {OPTIONS: "--gcc-toolchain=/nonexistent"}
WITHOUT_LIBC = {OPTIONS: "--sysroot=/nonexistent"}
WITHOUT_BOTH = {OPTIONS: "-nostdinc++ --sysroot=/nonexistent"}
HOST_HAS_HEADERS = any(pathlib.Path("/usr/include/c++").glob("[0-9]*/type_traits"))

needs_headers = unittest.skipUnless(HOST_HAS_HEADERS, "this machine has no libstdc++ headers")


class Rocm7(Ladder):
    libraries = fetch(folder="hip7")

    def test_plain_kernel(self):
        answer = self.ask("rocm.hiprtc_plain", *GPU)
        self.assertEqual(answer["state"], "yes", answer)
        self.assertEqual(answer["values"]["architecture"], "gfx1032")
        self.assertRegex(answer["values"]["hip_version"], r"^7\.")
        self.assertEqual(answer["findings"], [])

    def test_plain_kernel_needs_no_headers(self):
        answer = self.ask("rocm.hiprtc_plain", *GPU, **WITHOUT_BOTH)
        self.assertEqual(answer["state"], "yes", answer)

    def test_features_of_an_architecture(self):
        answer = self.ask("rocm.hiprtc_plain", "--architecture", "gfx90a:sramecc+:xnack-")
        self.assertEqual(answer["state"], "yes", answer)

    def test_no_gpu_is_known(self):
        answer = self.ask("rocm.hiprtc_plain")
        self.assertEqual(answer["state"], "yes", answer)
        if answer["values"]["architecture"] == "gfx1030":
            self.assertIn("no GPU is known", answer["fact"])

    @needs_headers
    def test_healthy(self):
        answer = self.ask("rocm.hiprtc_headers", *GPU)
        self.assertEqual(answer["state"], "yes", answer)
        self.assertEqual(answer["findings"], [])

    def test_no_cxx_headers(self):
        for variables in (WITHOUT_CXX, WITHOUT_TOOL_CHAIN):
            answer = self.ask("rocm.hiprtc_headers", *GPU, **variables)
            self.assertEqual(answer["state"], "no", answer)
            self.assertEqual(answer["findings"], ["ROCM-HIPRTC-HEADERS"])
            self.assertIn("fatal error: 'type_traits' file not found", answer["evidence"][0])
            self.assertIn(f"{OPTIONS}={variables[OPTIONS]}", answer["evidence"])

    def test_searched_folders_are_named(self):
        answer = self.ask("rocm.hiprtc_headers", *GPU, **WITHOUT_TOOL_CHAIN)
        self.assertIn("/usr/local/include", answer["values"]["searched"])
        self.assertNotIn("c++", answer["values"]["searched"])

    @needs_headers
    def test_no_libc_headers(self):
        answer = self.ask("rocm.hiprtc_headers", *GPU, **WITHOUT_LIBC)
        self.assertEqual(answer["state"], "no", answer)
        self.assertEqual(answer["findings"], ["ROCM-HIPRTC-LIBC-HEADERS"])
        self.assertIn("'features.h' file not found", answer["evidence"][0])

    @needs_headers
    def test_the_cure_cures(self):
        """What the probe advises is then done, and the failing question asked again."""
        for variables in (WITHOUT_CXX, WITHOUT_TOOL_CHAIN, WITHOUT_LIBC):
            cure = self.ask("rocm.hiprtc_cure", *GPU, **variables)
            self.assertEqual(cure["state"], "yes", cure)
            name, path = cure["values"]["variable"], cure["values"]["include_path"]
            self.assertEqual(cure["evidence"], [f"{name}={path}"])
            headers = self.ask("rocm.hiprtc_headers", *GPU, **variables)
            self.assertEqual(headers["values"]["advice"], f"$ export {name}={path}")
            again = self.ask("rocm.hiprtc_headers", *GPU, **variables, **{name: path})
            self.assertEqual(again["state"], "yes", again)

    def test_a_cure_that_is_none(self):
        """Options that no include path makes good."""
        options = "-nostdinc -nostdinc++ -DHIP_VERSION_MAJOR=7 -include /nonexistent/header.h"
        answer = self.ask("rocm.hiprtc_cure", *GPU, **{OPTIONS: options})
        self.assertNotEqual(answer["state"], "yes", answer)

    def test_temporary_folder(self):
        answer = self.ask("rocm.hiprtc_plain", *GPU, TMPDIR="/nonexistent")
        self.assertEqual(answer["state"], "no", answer)
        self.assertEqual(answer["findings"], ["ROCM-HIPRTC-TMPDIR"])
        self.assertIn("TMPDIR=/nonexistent", answer["fact"])

    def test_no_rung_is_blamed_for_a_lower_one(self):
        for probe, variables in (("rocm.hiprtc_headers", {"TMPDIR": "/nonexistent"}),
                                 ("rocm.hiprtc_cure", {OPTIONS: "--no-such-option"})):
            answer = self.ask(probe, *GPU, **variables)
            self.assertEqual(answer["state"], "unknown", answer)
            self.assertEqual(answer["findings"], [])

    def test_wrong_option(self):
        answer = self.ask("rocm.hiprtc_plain", *GPU, **{OPTIONS: "--no-such-option"})
        self.assertEqual(answer["state"], "no", answer)
        self.assertEqual(answer["findings"], ["ROCM-HIPRTC-OPTIONS"])
        self.assertIn(f"{OPTIONS}=--no-such-option", answer["evidence"])

    def test_unknown_architecture(self):
        answer = self.ask("rocm.hiprtc_plain", "--architecture", "gfx9999")
        self.assertEqual(answer["state"], "no", answer)
        self.assertEqual(answer["findings"], ["ROCM-HIPRTC-ARCH-UNKNOWN"])

    def test_no_code_object_manager(self):
        """HIPRTC itself would crash."""
        with tempfile.TemporaryDirectory() as folder:
            for file in self.libraries.iterdir():
                if file.is_file() and "comgr" not in file.name:
                    (pathlib.Path(folder) / file.name).symlink_to(file)
            complete = self.libraries
            self.libraries = pathlib.Path(folder)
            try:
                plain = self.ask("rocm.hiprtc_plain", *GPU)
                headers = self.ask("rocm.hiprtc_headers", *GPU)
            finally:
                self.libraries = complete
        self.assertEqual(plain["state"], "no", plain)
        self.assertEqual(plain["findings"], ["ROCM-HIPRTC-COMGR-MISSING"])
        self.assertEqual(headers["state"], "unknown", headers)

    def test_another_tree_is_not_tried(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = self.ask("rocm.hiprtc_plain", "--root", folder, *GPU)
        self.assertEqual(answer["state"], "unknown", answer)


class Rocm6(Ladder):
    libraries = fetch("--hip", "6", folder="hip6")

    def test_brings_its_own_type_traits(self):
        for variables in ({}, WITHOUT_BOTH):
            plain = self.ask("rocm.hiprtc_plain", *GPU, **variables)
            self.assertEqual(plain["state"], "yes", plain)
            self.assertRegex(plain["values"]["hip_version"], r"^6\.")
            headers = self.ask("rocm.hiprtc_headers", *GPU, **variables)
            self.assertEqual(headers["state"], "yes", headers)

    def test_the_cure_is_not_advised(self):
        answer = self.ask("rocm.hiprtc_cure", *GPU, **WITHOUT_CXX)
        self.assertEqual(answer["state"], "unknown", answer)
        self.assertNotIn("include_path", answer["values"])

    @needs_headers
    def test_host_headers_clash(self):
        """What the variable would do here."""
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "kernel.cpp"
            source.write_text("#include <type_traits>\n", encoding="utf-8")
            answer = self.compile(source, "gfx1032")
        self.assertNotEqual(answer["code"], 0)
        self.assertEqual(answer["finding"], "ROCM-HIPRTC-HEADER-CLASH")
        self.assertIn("redefinition of", answer["evidence"][0])

    def test_unknown_architecture(self):
        """This HIPRTC would abort."""
        answer = self.ask("rocm.hiprtc_plain", "--architecture", "gfx1250")
        self.assertEqual(answer["findings"], ["ROCM-HIPRTC-ARCH-UNKNOWN"])


if __name__ == "__main__":
    unittest.main()
