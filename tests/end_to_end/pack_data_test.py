#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the nine op packs say of their checks: cost, accuracy, paths and large sizes, held against
what follows from inputs and plan."""
import json
import math

import support

GIB = 2.0 ** 30
ITEM = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "bool": 1}

# Their large form is small in bytes: what it fills is the matrix units.
COMPUTE_BOUND = {"attention/sdpa", "attention/sdpa_causal", "attention/manual_attention",
                 "conv/conv2d", "conv/conv_transpose2d", "linear/mm", "linear/linear",
                 "linear/addmm", "linear/linear_fp16", "linear/linear_bf16"}

# Most of their bytes go in and out between their calls.
BYTES_WITHIN = {"attention/manual_attention", "elementwise/div"}

# Values that are only moved or picked.
EXACT = {"activation/relu", "elementwise/clamp", "elementwise/where", "conv/max_pool2d",
         "conv/interpolate", "indexing/embedding", "indexing/index_select", "indexing/gather",
         "indexing/masked_fill", "indexing/nonzero", "reduction/max", "reduction/argmax",
         "reduction/topk", "reduction/sort", "tensor/cat", "tensor/transpose_contiguous"}
PICKS = {"reduction/max", "reduction/argmax", "reduction/topk", "reduction/sort"}

# Whose sums are matrix products, which a device may do in TF32.
CONTRACTIONS = {"linear", "attention"}


def tensor_bytes(sizes, dtype):
    return math.prod(sizes) * ITEM[dtype]


def call_of(form, op):
    return next(call for call in form["plan"] if call["op"].startswith(op))


def constant(call, position=None, name=None):
    """A constant among a call's arguments, by position or by name."""
    if name is not None:
        return next(a["value"] for a in call["arguments"] if a["argument"] == name)
    return call["arguments"][position]["value"]


def outputs_of(name, form, dtype):
    """(sizes, dtype) of each output, worked out by the operator's definition."""
    inputs = [given["sizes"] for given in form["inputs"]]
    first = inputs[0]
    rows = first[:-1]
    if name == "activation" or name in ("reduction/cumsum", "tensor/cross_entropy"):
        return [([], dtype)] if name == "tensor/cross_entropy" else [(first, dtype)]
    known = {
        "attention/manual_attention": lambda: [(first, dtype)],
        "conv/conv1d": lambda: [([first[0], inputs[1][0], first[2]], dtype)],
        "conv/conv2d": lambda: [([first[0], inputs[1][0], *first[2:]], dtype)],
        "conv/conv3d": lambda: [([first[0], inputs[1][0], *first[2:]], dtype)],
        "conv/depthwise_conv2d": lambda: [(first, dtype)],
        "conv/conv_transpose2d": lambda: [([first[0], inputs[1][1], *first[2:]], dtype)],
        "conv/max_pool2d": lambda: [([*first[:2], first[2] // 2, first[3] // 2], dtype)],
        "conv/avg_pool2d": lambda: [([*first[:2], first[2] // 2, first[3] // 2], dtype)],
        "conv/interpolate": lambda: [([*first[:2], first[2] * 2, first[3] * 2], dtype)],
        "indexing/embedding": lambda: [([*inputs[1], first[1]], dtype)],
        "indexing/index_select": lambda: [([inputs[1][0], first[1]], dtype)],
        "indexing/gather": lambda: [([inputs[1][0], first[1]], dtype)],
        "indexing/nonzero": lambda: [([math.prod(first) // 2, len(first)], "int64")],
        "linear/mm": lambda: [([first[0], inputs[1][1]], dtype)],
        "linear/bmm": lambda: [([*first[:2], inputs[1][2]], dtype)],
        "linear/einsum": lambda: [([*first[:2], inputs[1][2]], dtype)],
        "linear/linear": lambda: [([first[0], inputs[1][0]], dtype)],
        "linear/linear_fp16": lambda: [([first[0], inputs[1][0]], dtype)],
        "linear/linear_bf16": lambda: [([first[0], inputs[1][0]], dtype)],
        "linear/addmm": lambda: [([inputs[1][0], inputs[2][1]], dtype)],
        "reduction/sum": lambda: [([], dtype)],
        "reduction/mean": lambda: [(rows, dtype)],
        "reduction/var": lambda: [(rows, dtype)],
        "reduction/max": lambda: [(rows, dtype), (rows, "int64")],
        "reduction/argmax": lambda: [(rows, "int64")],
        "reduction/topk": lambda: [(rows + [10], dtype), (rows + [10], "int64")],
        "reduction/sort": lambda: [(first, dtype), (first, "int64")],
        "tensor/cat": lambda: [([2 * first[0], *first[1:]], dtype)],
        "tensor/cross_entropy": lambda: [([], dtype)],
    }
    return known.get(name, lambda: [(first, dtype)])()


def io_bytes(name, form, dtype):
    given = [(tensor["sizes"], tensor["dtype"] or dtype) for tensor in form["inputs"]]
    return sum(tensor_bytes(*tensor) for tensor in given + outputs_of(name, form, dtype))


def declared_bytes(form, dtype):
    return form["cost"]["elements"] * ITEM[dtype] + form["cost"]["bytes"]


def flops_of(name, form):
    """Multiply-adds times two, from the shapes alone; None where none are to be stated."""
    sizes = [given["sizes"] for given in form["inputs"]]
    if name in ("linear/mm", "linear/linear", "linear/linear_fp16", "linear/linear_bf16"):
        (m, k), other = sizes[0], sizes[1]
        return 2 * m * k * (other[1] if name == "linear/mm" else other[0])
    if name == "linear/addmm":
        _, (m, k), (_, n) = sizes
        return 2 * m * n * k
    if name in ("linear/bmm", "linear/einsum"):
        (b, m, k), (_, _, n) = sizes
        return 2 * b * m * n * k
    if name.startswith("attention/"):
        b, h, length, size = sizes[0]
        full = 4 * b * h * length * length * size
        return full / 2 if name == "attention/sdpa_causal" else full
    if name == "conv/conv_transpose2d":  # each input element meets each filter
        image, kernel = sizes
        return 2 * math.prod(image) * math.prod(kernel[1:])
    if "conv" in name.split("/")[1]:
        image, kernel = sizes
        out = [image[0], kernel[0], *image[2:]]
        groups = image[1] if name == "conv/depthwise_conv2d" else 1
        return 2 * math.prod(out) * (image[1] // groups) * math.prod(kernel[2:])
    return None


class PackDataTest(support.EndToEndTest):
    """One catalogue for all tests: the packs do not change meanwhile."""

    checks = None

    def setUp(self):
        super().setUp()
        if PackDataTest.checks is None:
            run = self.assay("list", "--json")
            self.assertEqual(run.status, 0, run)
            records = [json.loads(line) for line in run.stdout.splitlines()]
            PackDataTest.checks = {record["check"]: record for record in records
                                   if record["record"] == "check"}
        self.checks = PackDataTest.checks

    def forms(self):
        """(name, default dtype, form) of all classic forms and all large ones."""
        return [(name, check["dtypes"][0], form) for name, check in self.checks.items()
                for form in (check, check["large"])]

    def test_all_is_stated(self):
        self.assertEqual(len(self.checks), 55)
        for name in EXACT | PICKS | COMPUTE_BOUND | BYTES_WITHIN:
            self.assertIn(name, self.checks)
        for name, check in self.checks.items():
            with self.subTest(name):
                self.assertTrue(check["paths"], "no path")
                self.assertIsNotNone(check["large"], "no large form")
                for form in (check, check["large"]):
                    self.assertGreater(form["cost"]["elements"], 0)
                    self.assertIsNotNone(form["accuracy"])

    def test_large_form_is_the_same_check(self):
        """Other sizes and the constants that follow from them, nothing else."""
        for name, check in self.checks.items():
            with self.subTest(name):
                large = check["large"]
                kinds = [[(given["dtype"], given["fill"], len(given["sizes"]))
                          for given in form["inputs"]] for form in (check, large)]
                self.assertEqual(kinds[0], kinds[1])
                plans = [[(call["op"], [(a["kind"], a["argument"], a["item"])
                                        for a in call["arguments"]]) for call in form["plan"]]
                         for form in (check, large)]
                self.assertEqual(plans[0], plans[1])
                terms = [form["accuracy"]["terms"] for form in (check, large)]
                self.assertGreaterEqual(terms[1], terms[0])
                self.assertEqual({**check["accuracy"], "terms": terms[1]}, large["accuracy"])
                self.assertEqual(check["cost"]["matrix"], large["cost"]["matrix"])
                self.assertEqual(check["reference"], large["reference"])

    def test_bytes(self):
        """Between half and twice what inputs and outputs are once."""
        for name, dtype, form in self.forms():
            with self.subTest(name, large="large" not in form):
                ratio = declared_bytes(form, dtype) / io_bytes(name, form, dtype)
                self.assertGreaterEqual(ratio, 0.5)
                if name in BYTES_WITHIN:
                    self.assertGreater(ratio, 2.0, "no exception is needed")
                else:
                    self.assertLessEqual(ratio, 2.0)

    def test_picked_rows(self):
        """Each picked row once in and once out, and its index."""
        for name in ("indexing/embedding", "indexing/index_select", "indexing/gather"):
            for form in (self.checks[name], self.checks[name]["large"]):
                table, picked = (given["sizes"] for given in form["inputs"])
                count = math.prod(picked)
                self.assertEqual(form["cost"]["elements"], 2 * count * table[1], name)
                self.assertEqual(form["cost"]["bytes"], 8 * count, name)

    def test_large_form_fills_a_device(self):
        for name, check in self.checks.items():
            with self.subTest(name):
                form = check["large"]
                size = io_bytes(name, form, check["dtypes"][0])
                self.assertLessEqual(size, 3 * GIB)
                if name in COMPUTE_BOUND:
                    self.assertTrue(form["cost"]["matrix"])
                    self.assertGreater(form["cost"]["flops"], 1e10)  # 1 ms at 10 TFLOP/s
                    self.assertLess(form["cost"]["flops"], 1e12)
                else:
                    self.assertGreaterEqual(size, 0.25 * GIB)

    def test_flops(self):
        stated = 0
        for name, _, form in self.forms():
            with self.subTest(name, large="large" not in form):
                expected = flops_of(name, form)
                self.assertEqual(form["cost"]["flops"], expected or 0.0)
                self.assertEqual(form["cost"]["matrix"],
                                 expected is not None and name != "conv/depthwise_conv2d")
                stated += expected is not None
        self.assertEqual(stated, 2 * (7 + 3 + 5))  # linear, attention, convolutions

    def test_accuracy(self):
        for name, check in self.checks.items():
            with self.subTest(name):
                accuracy = check["accuracy"]
                category = name.split("/")[0]
                self.assertEqual(accuracy["exact"], name in EXACT)
                self.assertEqual(accuracy["picks_input"], 0 if name in PICKS else None)
                self.assertEqual(accuracy["contraction"],
                                 category in CONTRACTIONS or flops_of(name, check) is not None)
                if name in PICKS:
                    self.assertEqual(accuracy["picks_dimension"], -1)
                if not accuracy["exact"]:
                    self.assertTrue(1 <= accuracy["roundings"] <= 16, accuracy["roundings"])

    def test_terms(self):
        """The length of the longest sum: at least what the shapes say."""
        expected = {"linear/mm": lambda f: f["inputs"][0]["sizes"][1],
                    "linear/bmm": lambda f: f["inputs"][0]["sizes"][2],
                    "conv/conv2d": lambda f: math.prod(f["inputs"][1]["sizes"][1:]),
                    "attention/sdpa": lambda f: f["inputs"][0]["sizes"][2],
                    "activation/softmax": lambda f: f["inputs"][0]["sizes"][1],
                    "norm/layer_norm": lambda f: constant(call_of(f, "aten::layer_norm"), 1)[0],
                    "reduction/sum": lambda f: math.prod(f["inputs"][0]["sizes"]),
                    "reduction/cumsum": lambda f: f["inputs"][0]["sizes"][1]}
        for name, terms in expected.items():
            for form in (self.checks[name], self.checks[name]["large"]):
                self.assertGreaterEqual(form["accuracy"]["terms"], terms(form), name)
                # Convolutions allow for Winograd's transforms too.
                most = 8 if name == "conv/conv2d" else 4
                self.assertLessEqual(form["accuracy"]["terms"], most * terms(form), name)

    def paths_of(self, name):
        return [(path["name"], path["grade"]) for path in self.checks[name]["paths"]]

    def test_order_of_paths(self):
        """The first that matches counts: what is slow behind a fast operator stands before it."""
        for name in ("conv1d", "conv2d", "conv3d", "depthwise_conv2d", "conv_transpose2d"):
            paths = self.paths_of(f"conv/{name}")
            self.assertLess(paths.index(("naive", "slow")), paths.index(("miopen", "fast")))
            self.assertEqual(paths[-1], ("naive", "slow"))
        # On the CPU aten::_fused_rms_norm is there, and is composed of others.
        rms_norm = self.paths_of("norm/rms_norm")
        self.assertEqual(rms_norm, [("composed", "acceptable"), ("fused", "fast")])
        for name in ("sdpa", "sdpa_causal"):
            self.assertIn(("math", "slow"), self.paths_of(f"attention/{name}"))

    def test_constants_follow_the_sizes(self):
        """Arguments that repeat a size of the inputs do so in both forms."""
        depthwise, gather = self.checks["conv/depthwise_conv2d"], self.checks["indexing/gather"]
        for form in (depthwise, depthwise["large"]):
            self.assertEqual(constant(call_of(form, "aten::conv2d"), name="groups"),
                             form["inputs"][0]["sizes"][1])
        for form in (gather, gather["large"]):
            self.assertEqual(constant(call_of(form, "aten::expand"), 1),
                             [form["inputs"][1]["sizes"][0], form["inputs"][0]["sizes"][1]])
        for name in ("layer_norm", "rms_norm"):
            for form in (self.checks[f"norm/{name}"], self.checks[f"norm/{name}"]["large"]):
                self.assertEqual(constant(form["plan"][0], 1), form["inputs"][0]["sizes"][-1:])
        for name in ("embedding", "index_select", "gather", "scatter_add"):
            for form in (self.checks[f"indexing/{name}"], self.checks[f"indexing/{name}"]["large"]):
                self.assertEqual(form["inputs"][1]["high"], form["inputs"][0]["sizes"][0])


@support.needs_torch
class BoundsHold(support.SharedCeilings, support.EndToEndTest):
    """The bounds are no tighter than the CPU is good, in the dtypes that the reference betters."""

    def test_on_the_cpu(self):
        run = self.run_checks("--profile", "quick", "--dtype", "float32,float16,bfloat16",
                              device="cpu", evidence=True)
        lines = run.of_kind("evidence")
        for dtype in ("float32", "float16", "bfloat16"):
            of_dtype = [line for line in lines if line["id"].endswith(f"[{dtype}]")]
            self.assertGreaterEqual(len(of_dtype), 53, run)
        for line in lines:
            with self.subTest(line["id"]):
                correct = line["verdict"]["links"]["correct"]
                self.assertEqual(correct["state"], "pass", correct["why"])


if __name__ == "__main__":
    support.main()
