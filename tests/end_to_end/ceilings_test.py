# SPDX-License-Identifier: Apache-2.0
"""What the devices reach, measured once, while nothing else runs: the other tests start from it."""
import support


@support.needs_torch
class CeilingsTest(support.EndToEndTest):
    def test_are_there_for_the_others(self):
        for torch, device in ((support.TORCH, "cpu"), (support.SIMULATED, "all")):
            run = self.run_checks(torch=torch, device=device, evidence=True,
                                  enable=["elementwise/add"],
                                  env={"XDG_CACHE_HOME": support.CEILINGS})
            self.assertEqual(run.status, 0, run)
            for line in run.of_kind("ceilings"):
                self.assertIn(line["state"], ("measured", "cached"), run)
        self.assertTrue(any(support.CEILINGS.glob("assay/ceilings-*.json")))


if __name__ == "__main__":
    support.main()
