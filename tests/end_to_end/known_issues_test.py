# SPDX-License-Identifier: Apache-2.0
"""assay run --known-issues: what is excused, what is not, and the entries that need a look."""
import support


class KnownIssuesTest(support.EndToEndTest):
    def known(self, text, name="known.toml"):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        return file

    def states(self, run):
        return {record["ids"][0]: record["state"] for record in run.of_kind("known_issue")}


class Mistakes(KnownIssuesTest):
    def refused(self, *arguments):
        run = self.assay("run", *arguments)
        self.assertEqual((run.status, run.stdout), (2, ""), run)
        return run

    def test_a_mistake_in_the_file(self):
        file = self.known('[[issue]]\nid = "conv"\nreson = "x"\n')
        self.assert_one_line(self.refused("--known-issues", file), f"{file}:3: ", "'reson'",
                             "did you mean 'reason'?")

    def test_no_file(self):
        self.assert_one_line(self.refused("--known-issues", "none.toml"), "--known-issues: ",
                             "there is no file", "none.toml")
        self.assert_one_line(self.refused("--known-issues", "."), "is no ordinary file")

    def test_not_in_a_strangers_configuration(self):
        self.known("")
        (self.folder / "assay.ini").write_text("known-issues = known.toml\n", encoding="utf-8")
        self.assert_one_line(self.refused(), "'known-issues' may not stand in a folder's own")


@support.needs_torch
class OnTheCpu(KnownIssuesTest):
    def test_expected_failures_and_others(self):
        first = self.known("""
            [[issue]]
            id = "planted/throws"
            fails = "error"
            build = ["cpu", "cuda", "rocm"]
            reason = "it always throws"
            link = "https://example.org/7"

            [[issue]]
            id = "planted/segfaults"
            fails = "crash"
            reason = "it always crashes"
            """)
        second = self.known("""
            [[issue]]
            id = "planted/fine"
            fails = "ran"
            reason = "it used to fail"

            [[issue]]
            id = "planted/throws"
            reason = "long ago"
            expires = 2001-02-03

            [[issue]]
            id = "planted/fien"
            reason = "a slip"

            [[issue]]
            id = "planted/*"
            device = "cuda"
            reason = "elsewhere"
            """, "more.toml")
        arguments = ("--known-issues", first, "--known-issues", second, "--junit", "junit.xml")
        checks = ["planted/throws", "planted/segfaults", "planted/fine"]
        run = self.run_checks(*arguments, device="cpu", planted=True, enable=checks)
        self.assertEqual(run.status, 0, run)
        self.assert_counts(run, checks=3, on_device=1, known=2)
        self.assertIn(" | 0 errors | 0 warnings | 0 crashes | 0 timeouts | 2 known | ",
                      run.summary["text"])
        self.assertIn("planted/throws[float32] known - ", run.row("planted/throws[float32]"))
        self.assertIn("known issue: it always throws (https://example.org/7, known.toml:2); ",
                      " ".join(run.stdout.split()))
        self.assertEqual(
            [record["state"] for record in run.of_kind("known_issue")],
            ["seen", "seen", "unexpected_pass", "expired", "unmatched", "elsewhere"], run)
        look = " ".join(run.stdout[run.stdout.index("Known issues to look at"):].split())
        for part in ("more.toml:2 'planted/fine' passed unexpectedly, the one check",
                     "more.toml:7 'planted/throws' expired on 2001-02-03",
                     "more.toml:12 'planted/fien' matches no check that there is; did you mean "
                     "'planted/fine'?"):
            self.assertIn(part, look)
        junit = (self.folder / "junit.xml").read_text(encoding="utf-8")
        self.assertIn('tests="6" failures="0" errors="0" skipped="5"', junit)

    def test_another_failure_is_not_hidden(self):
        file = self.known("""
            [[issue]]
            id = "planted/*"
            fails = "error"
            reason = "they throw"
            """)
        run = self.run_checks(device="cpu", planted=True,
                              enable=["planted/throws", "planted/aborts"],
                              env={"ASSAY_KNOWN_ISSUES": file})
        self.assertEqual(run.status, 1, run)
        self.assert_counts(run, checks=2, on_device=0, known=1, crashes=1)
        self.assertNotIn("known", run.result("planted/aborts"))


@support.needs_torch
class WithEvidence(support.SharedCeilings, KnownIssuesTest):
    def run_wrong(self, text):
        return self.run_checks("--known-issues", self.known(text), torch=support.SIMULATED,
                               evidence=True, enable=["activation/gelu", "activation/relu"],
                               env={"SIMULATED_ROCM": "wrong=aten::gelu"})

    def test_a_link_of_the_chain(self):
        entry = """
            [[issue]]
            id = "activation/gelu"
            architecture = "{}"
            device = "hip:0"
            fails = "{}"
            reason = "a wrong number"
            """
        run = self.run_wrong(entry.format("gfx0000", "correct"))
        self.assertEqual(run.status, 0, run)
        self.assertEqual((run.summary["known"], run.summary["verdicts"]["known"],
                          run.summary["verdicts"]["fail"]), (1, 1, 0))
        line = run.evidence("activation/gelu")
        self.assertEqual((line["known"], line["known_issues"][0]["covers"]), (True, ["correct"]))
        self.assertEqual(line["verdict"]["links"]["correct"]["state"], "fail")
        self.assertIn("activation/gelu[float32] known ok ok X ",
                      run.row("activation/gelu[float32]"))
        self.assertEqual(self.states(run), {"activation/gelu": "seen"})
        for architecture, fails, state in (("gfx0001", "correct", "elsewhere"),
                                           ("gfx*", "no_fallback", "undecided")):
            run = self.run_wrong(entry.format(architecture, fails))
            self.assertEqual((run.status, run.summary["known"]), (1, 0), run)
            self.assertEqual(self.states(run), {"activation/gelu": state})


if __name__ == "__main__":
    support.main()
