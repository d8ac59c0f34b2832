#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay run --trace`: logs of operator calls replayed as checks.

The test of the documented recorder needs a Python that has torch (support.python_with_torch), and is
skipped without."""
import re
import subprocess

import support
import trace_logs
from support import needs_torch

DOCUMENT = support.pathlib.Path(__file__).resolve().parents[2] / "docs" / "replaying-a-model.md"
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # the shapes are small, and other tests run beside


class TraceTest(support.SharedCeilings, support.EndToEndTest):
    def write(self, text, name="model.txt"):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o644)
        return file

    def replay(self, text, *arguments, **more):
        return self.run_checks("--trace", self.write(text), *arguments, device="cpu",
                               env=ONE_THREAD, **more)

    @needs_torch
    def test_a_training_step_replays_whole(self):
        run = self.replay(trace_logs.training_step(), "--profile", "quick", evidence=True)
        self.assertEqual([result for result in run.results if result["status"] != "ok"], [], run)
        self.assertEqual({result["category"] for result in run.results}, {"trace"})
        wrong = {line["id"]: line["verdict"]["links"] for line in run.of_kind("evidence")
                 if line["verdict"]["links"]["correct"]["state"] == "fail"}
        self.assertEqual(wrong, {})
        random = {line["id"].split("_1")[0].split("_2")[0] for line in run.of_kind("evidence")
                  if "draws random numbers" in line["verdict"]["links"]["correct"]["why"]}
        self.assertEqual(random, {"trace/bernoulli_p", "trace/native_dropout"})
        self.assert_adds_up(run)
        self.assertIn("of the calls are covered by checks that ran ok", run.stdout)
        self.assertEqual(run.status, 0, run)

    def assert_adds_up(self, run):
        model = run.one("model")
        text = trace_logs.training_step()
        counts = [int(count) for count in re.findall(r"^cnt: (\d+)", text, re.M)]
        self.assertEqual(model["entries"], len(counts))
        self.assertGreaterEqual(len(counts), 190)
        self.assertEqual(model["calls"], sum(counts))
        self.assertEqual(model["timed_calls"], model["calls"])
        self.assertEqual(sum(row["calls"] for row in model["operators"]), model["calls"])
        self.assertAlmostEqual(sum(row["share"] for row in model["operators"]), 1.0, 6)
        self.assertAlmostEqual(sum(row["total_us"] for row in model["operators"]) /
                               model["total_us"], 1.0, 6)
        wall = {result["id"].split("[")[0]: result["timing"]["wall_us"] for result in run.results}
        rows = {row["op"]: row for row in model["operators"]}
        self.assertAlmostEqual(rows["aten::gelu"]["total_us"],
                               4 * wall["trace/gelu_1"] + 4 * wall["trace/gelu_2"], 3)

    @needs_torch
    def test_in_place_calls_are_compared_on_first_values(self):
        run = self.replay("Operator: aten.add_.Tensor\ncnt: 1, ((T([64], f32), T([64], f32)), {})\n"
                          "Operator: aten.mul_.Tensor\ncnt: 1, ((T([64], f64), 3), {})\n"
                          "Operator: aten.exp_.default\ncnt: 1, ((T([64], f16),), {})\n"
                          "Operator: aten.add.out\n"
                          "cnt: 1, ((T([64], f32), T([64], f32)), {'out': T([64], f32)})\n",
                          evidence=True)
        for line in run.of_kind("evidence"):
            self.assertEqual(line["verdict"]["links"]["correct"]["state"], "pass", line["id"])
            self.assertIs(line["evidence"]["correct"]["repeatable"], True, line["id"])
        self.assertEqual(len(run.of_kind("evidence")), 4)

    @needs_torch
    def test_dtype_and_enable_choose(self):
        text = ("Operator: aten.mm.default\ncnt: 4, ((T([8, 8], f16), T([8, 8], f16)), {})\n"
                "cnt: 1, ((T([8, 4], f16), T([4, 8], f16)), {})\n"
                "Operator: aten._softmax_backward_data.default\n"
                "cnt: 2, ((T([8, 8], f16), T([8, 8], f16), -1, f16), {})\n"
                "Operator: aten.ne.Scalar\ncnt: 2, ((T([8], i64), 1), {})\n")
        run = self.replay(text, "--dtype", "float64,float32")
        self.assertEqual([result["id"] for result in run.results if result["status"] == "ok"],
                         [f"trace/{name}[{dtype}]"
                          for name in ("mm_1", "mm_2", "_softmax_backward_data_1")
                          for dtype in ("float64", "float32")], run)
        self.assertEqual([(model["dtype"], model["timed_calls"]) for model in run.of_kind("model")],
                         [("float32", 7), ("float64", 7)])
        run = self.replay(text, enable=["trace/mm_*"])
        self.assertEqual([result["name"] for result in run.results], ["mm_1", "mm_2"])
        run = self.replay(text, "--list-only", enable=["elementwise/add"])
        listed = run.stdout.split()
        self.assertIn("elementwise/add[float32]", listed)
        self.assertIn("trace/mm_1[float16]", listed)
        self.assertEqual(len(listed), 5)

    def test_op_packs_are_not_opened(self):
        run = self.assay("list", "--json", "--trace",
                         self.write("Operator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\n"))
        self.assertNotIn('"check":"elementwise/', run.stdout)
        self.assertIn('"check":"trace/relu_1"', run.stdout)

    @needs_torch
    def test_what_is_wrong_is_said_with_its_line(self):
        run = self.replay("Operator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\n"
                          "Operator: aten.gelu.default\n"
                          "cnt: 2, ((T([8], f32),), {'aproximate': 'tanh'})\n"
                          "Operator: aten.no_such.default\ncnt: 3, ((T([8], f32),), {})\n"
                          "Operator: aten.sin.default\ncnt: 4, ((T([8], c64),), {})\n")
        self.assertEqual(run.result("trace/gelu_1")["error"]["message"],
                         "model.txt:4: call 0, aten::gelu has no argument 'aproximate'; "
                         "did you mean 'approximate'?")
        self.assertEqual(run.result("trace/no_such_1")["status"], "skipped")
        self.assertIn("no operator aten::no_such", run.result("trace/no_such_1")["note"])
        model = run.one("model")
        self.assertEqual((model["calls"], model["timed_calls"], model["ok_calls"]), (10, 1, 1))
        self.assertEqual([(one["line"], one["calls"]) for one in model["skipped"]], [(8, 4)])
        self.assertIn("Skipped: 1 entry (4 calls): it has complex numbers (c64), which assay does "
                      "not make: line 8 (aten::sin)", " ".join(run.stdout.split()))

    @needs_torch
    def test_a_log_that_is_not_well_formed_is_refused_whole(self):
        run = self.replay("Operator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\ncnt: 1, 7\n")
        self.assertEqual(run.plugin("model.txt")["reason"],
                         "model.txt:3:9: found '7', expected '(' and the arguments")
        self.assertEqual((run.status, run.results), (3, []))
        run = self.assay("run", "--trace", self.folder / "none.txt")
        self.assert_one_line(run, "--trace: there is no file", "name a file that exists")
        self.assertEqual(run.status, 2)

    def test_others_may_not_write_it(self):
        file = self.write("Operator: aten.relu.default\ncnt: 1, ((T([8], f32),), {})\n")
        file.chmod(0o666)
        run = self.assay("list", "--json", "--trace", file)
        self.assertIn("who could change what runs here", run.stdout)

    def test_a_large_log_is_read_in_linear_time(self):
        entries = [f"cnt: 1, ((T([{i}, 128], f16, stride=(1, {i})), T([128], f16), None, [1, 1], "
                   "False), {'dtype': f32})" for i in range(1, 20001)]
        file = self.write("Operator: aten.mm.default\n" + "\n".join(entries) + "\n")
        run = self.assay("show", "trace/mm_20000", "--trace", file)
        self.assertIn("[20000, 128]", run.stdout, run)

    def test_every_spelling_is_read(self):
        for seed in range(3):
            file = self.write(trace_logs.full_syntax(seed))
            run = self.assay("list", "--json", "--trace", file)
            self.assertIn('"status":"loaded"', run.stdout.split(str(file))[1][:2000], run.stderr)

    def test_the_documented_recorder(self):
        python, why = support.python_with_torch()
        if not python:
            self.skipTest(why)
        program = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
        log = self.folder / "recorded.txt"
        script = self.folder / "record.py"
        script.write_text(program[1] + f"""
layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
rows = torch.nn.Embedding(50, 32)
optimizer = torch.optim.AdamW([*layer.parameters(), *rows.parameters()])
with Recorder() as recorder:
    torch.nn.functional.cross_entropy(layer(rows(torch.ones(2, 8, dtype=torch.long)))[:, 0],
                                      torch.ones(2, dtype=torch.long)).backward()
    optimizer.step()
with open({str(log)!r}, "w") as file:
    recorder.write(file)
""", encoding="utf-8")
        done = subprocess.run([python, script], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = self.run_checks("--trace", log, device="cpu", env=ONE_THREAD, evidence=True)
        self.assertEqual([r["id"] for r in run.results if r["status"] != "ok"], [], run)
        self.assertGreater(len(run.results), 50)
        self.assertEqual([id for id in (r["id"] for r in run.results)
                          if run.links(id)["correct"] == "fail"], [], run)


if __name__ == "__main__":
    support.main()
