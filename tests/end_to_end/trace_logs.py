# SPDX-License-Identifier: Apache-2.0
"""Logs of operator calls for tests, made up: nothing of anybody's model is in them.

training_step(): some 200 entries of a transformer's and a small CNN's training step, all of which
bind. full_syntax(seed): entries of random values in every spelling that logs have."""
import random


def t(sizes, dtype="f32", stride=None):
    sizes = ", ".join(str(size) for size in sizes)
    if stride is None:
        return f"T([{sizes}], {dtype})"
    return f"T([{sizes}], {dtype}, stride=({', '.join(str(s) for s in stride)}))"


def args(*values, **named):
    inside = ", ".join(str(value) for value in values)
    comma = "," if len(values) == 1 else ""
    names = ", ".join(f"'{name}': {value}" for name, value in named.items())
    return f"(({inside}{comma}), {{{names}}})"


def transformer(batch, length, width, heads, words, dtype):
    """(operator, count, arguments) of one layer and its loss."""
    rows, head, inner = batch * length, width // heads, 4 * width
    x, flat = t([batch, length, width], dtype), t([rows, width], dtype)
    scores = t([batch * heads, length, length], dtype)
    full = t([batch, heads, length, length], dtype)
    vector, statistic = t([width], dtype), t([batch, length, 1], dtype)
    ids = t([batch, length], "i64")
    yield "embedding.default", 1, args(t([words, width], dtype), ids, 0)
    yield "embedding_dense_backward.default", 1, args(x, ids, words, 0, False)
    yield "native_layer_norm.default", 9, args(x, f"[{width}]", vector, vector, "1e-05")
    yield ("native_layer_norm_backward.default", 9,
           args(x, x, f"[{width}]", statistic, statistic, vector, vector, "[True, True, True]"))
    yield ("addmm.default", 16,
           args(vector, flat, t([width, width], dtype, (1, width))))
    yield "addmm.default", 4, args(t([inner], dtype), flat, t([width, inner], dtype, (1, width)))
    yield "addmm.default", 4, args(vector, t([rows, inner], dtype), t([inner, width], dtype, (1, inner)))
    yield "mm.default", 16, args(flat, t([width, width], dtype))
    yield "mm.default", 4, args(t([inner, rows], dtype, (1, inner)), flat)
    yield "bmm.default", 8, args(t([batch * heads, length, head], dtype),
                                 t([batch * heads, head, length], dtype, (length * head, 1, head)))
    yield "bmm.default", 8, args(scores, t([batch * heads, length, head], dtype))
    yield "div.Tensor", 4, args(full, "2.8284271247461903")
    yield "mul.Tensor", 4, args(full, "0.125")
    yield "mul.Scalar", 1, args(x, "0.5")
    yield "masked_fill.Scalar", 4, args(full, t([1, 1, length, length], "b8"), "-inf")
    yield "masked_fill.Scalar", 4, args(full, t([batch, 1, length, length], "b8",
                                               (length * length, length * length, length, 1)), 0)
    yield "_softmax.default", 4, args(full, -1, False)
    yield "_softmax_backward_data.default", 4, args(full, full, -1, dtype)
    yield "native_dropout.default", 5, args(x, "0.1", True)
    yield "native_dropout_backward.default", 5, args(x, t([batch, length, width], "b8"), "1.1111")
    yield "gelu.default", 4, args(t([batch, length, inner], dtype))
    yield "gelu_backward.default", 4, args(t([batch, length, inner], dtype), t([batch, length, inner], dtype))
    yield "add.Tensor", 8, args(x, x)
    yield "add_.Tensor", 8, args(x, x)
    yield "add.Tensor", 1, args(x, "1")
    yield "mul_.Tensor", 2, args(x, "0.999")
    yield "sub.Tensor", 1, args(x, x, alpha="0.5")
    yield "tanh.default", 1, args(t([batch, width], dtype))
    yield "tanh_backward.default", 1, args(t([batch, width], dtype), t([batch, width], dtype))
    yield "sum.SymInt", 21, args(flat, "[0]", True)
    yield "sum.dim_IntList", 1, args(x, "[0, 1]", True)
    yield "_unsafe_view.default", 4, args(flat, f"[{batch}, {length}, {width}]")
    yield "clone.default", 4, args(t([batch, length, heads, head], dtype,
                                     (length * width, head, length * head, 1)),
                                   memory_format="torch.contiguous_format")
    yield "_to_copy.default", 2, args(t([batch, 1, 1, length], "i64"), dtype=dtype,
                                      layout="torch.strided", device="'cuda'", pin_memory="False")
    yield "_to_copy.default", 1, args(x, dtype="f32")
    yield "_log_softmax.default", 1, args(t([rows, words], dtype), 1, False)
    yield "_log_softmax_backward_data.default", 1, args(t([rows, words], dtype), t([rows, words], dtype), 1, dtype)
    yield "nll_loss_forward.default", 1, args(t([rows, words], dtype), t([rows], "i64"), None, 1, -100)
    yield ("nll_loss_backward.default", 1,
           args(t([], dtype), t([rows, words], dtype), t([rows], "i64"), None, 1, -100, t([], dtype)))
    yield "cat.default", 1, args(f"[{x}, {x}, {x}]", 2)
    yield "stack.default", 1, args(f"[{vector}, {vector}]")
    yield "split.Tensor", 1, args(t([batch, length, 3 * width], dtype), width, 2)
    yield "gather.default", 1, args(t([batch, length, words], dtype), 2, t([batch, length, 1], "i64"))
    yield "scatter.src", 1, args(t([batch, words], dtype), 1, t([batch, 4], "i64"), t([batch, 4], dtype))
    yield "scatter.value", 1, args(t([batch, words], dtype), 1, t([batch, 1], "i64"), 1)
    yield "scatter_add.default", 1, args(t([batch, words], dtype), 1, ids, t([batch, length], dtype))
    yield "index_select.default", 1, args(x, 1, t([5], "i64"))
    yield "index.Tensor", 1, args(x, f"[{t([batch], 'i64')}, {t([batch], 'i64')}]")
    yield "index.Tensor", 1, args(x, f"[None, {t([3], 'i64')}]")
    yield "index_put.default", 1, args(x, f"[{t([batch], 'i64')}, {t([batch], 'i64')}]", t([batch, width], dtype), True)
    yield "index_put_.default", 1, args(x, f"[{t([7], 'i64')}]", t([7, length, width], dtype))
    yield "slice_backward.default", 1, args(t([batch, 1, width], dtype), f"[{batch}, {length}, {width}]", 1, 0, 1, 1)
    yield "cumsum.default", 1, args(t([batch, length], "i64"), 1)
    yield "rsub.Scalar", 1, args(t([batch, 1, 1, length], dtype), "1.0")
    yield "ne.Scalar", 1, args(ids, 1)
    yield "eq.Tensor", 1, args(ids, ids)
    yield "where.self", 1, args(t([1, 1, length, length], "b8"), full, t([], dtype))
    yield "mean.dim", 1, args(x, "[-1]", True)
    yield "var.correction", 1, args(x, "[-1]", correction=0, keepdim="True")
    yield "rsqrt.default", 1, args(statistic)
    yield "pow.Tensor_Scalar", 1, args(x, 2)
    yield "sqrt_.default", 1, args(t([batch, length, width], dtype))
    yield "silu.default", 1, args(t([batch, length, inner], dtype))
    yield "argmax.default", 1, args(t([rows, words], dtype), 1)
    yield "topk.default", 1, args(t([batch, words], dtype), 5)
    yield "copy_.default", 1, args(x, x)
    yield "fill_.Scalar", 1, args(vector, 0)
    yield "_scaled_dot_product_flash_attention_for_cpu.default", 1, args(
        *[t([batch, heads, length, head], dtype)] * 3)


def cnn(batch, channels, side, dtype):
    image = t([batch, 3, side, side], dtype)
    plane = t([batch, channels, side, side], dtype)
    half = t([batch, channels, side // 2, side // 2], dtype)
    kernel, vector = t([channels, channels, 3, 3], dtype), t([channels], dtype)
    pixels = t([batch, channels, side // 2, side // 2], "i64")
    last = t([batch, channels, side, side], dtype, (channels * side * side, 1, side * channels, channels))
    yield "convolution.default", 1, args(image, t([channels, 3, 3, 3], dtype), None, "[1, 1]", "[1, 1]", "[1, 1]", False, "[0, 0]", 1)
    yield "convolution.default", 4, args(plane, kernel, vector, "[1, 1]", "[1, 1]", "[1, 1]", False, "[0, 0]", 1)
    yield "convolution.default", 2, args(plane, t([channels, 1, 3, 3], dtype), None, "[2, 2]", "[1, 1]", "[1, 1]", False, "[0, 0]", channels)
    yield "convolution.default", 1, args(half, t([channels, channels, 2, 2], dtype), None, "[2, 2]", "[0, 0]", "[1, 1]", True, "[0, 0]", 1)
    yield ("convolution_backward.default", 4,
           args(plane, plane, kernel, f"[{channels}]", "[1, 1]", "[1, 1]", "[1, 1]", False, "[0, 0]", 1, "[True, True, True]"))
    yield ("convolution_backward.default", 1,
           args(plane, image, t([channels, 3, 3, 3], dtype), "[0]", "[1, 1]", "[1, 1]", "[1, 1]", False, "[0, 0]", 1, "[False, True, False]"))
    yield "native_batch_norm.default", 5, args(plane, vector, vector, vector, vector, True, "0.1", "1e-05")
    yield "native_batch_norm.default", 5, args(plane, vector, vector, vector, vector, False, "0.1", "1e-05")
    yield ("native_batch_norm_backward.default", 5,
           args(plane, plane, vector, vector, vector, vector, vector, True, "1e-05", "[True, True, True]"))
    yield "native_group_norm.default", 1, args(plane, vector, vector, batch, channels, side * side, 2, "1e-05")
    yield "relu.default", 1, args(last)
    yield "relu_.default", 5, args(plane)
    yield "threshold_backward.default", 5, args(plane, plane, 0)
    yield "hardtanh_.default", 1, args(plane, "0.0", "6.0")
    yield "leaky_relu.default", 1, args(plane, "0.01")
    yield "max_pool2d_with_indices.default", 1, args(plane, "[2, 2]", "[2, 2]")
    yield ("max_pool2d_with_indices_backward.default", 1,
           args(half, plane, "[2, 2]", "[2, 2]", "[0, 0]", "[1, 1]", False, pixels))
    yield "avg_pool2d.default", 1, args(plane, "[2, 2]", "[2, 2]")
    yield "_adaptive_avg_pool2d.default", 1, args(plane, "[1, 1]")
    yield "_adaptive_avg_pool2d_backward.default", 1, args(t([batch, channels, 1, 1], dtype), plane)
    yield "upsample_nearest2d.vec", 1, args(half, None, "[2.0, 2.0]")
    yield "constant_pad_nd.default", 1, args(plane, "[1, 1, 1, 1]", "0.0")
    yield "mean.dim", 1, args(plane, "[-1, -2]", True)
    yield "cat.default", 1, args(f"[{plane}, {half.replace(str(side // 2), str(side))}]", 1)
    yield "sigmoid.default", 1, args(t([batch, channels, 1, 1], dtype))
    yield "mul.Tensor", 1, args(plane, t([batch, channels, 1, 1], dtype))
    yield "div.Scalar", 1, args(t([batch, channels, side, side], dtype, (channels, 1, 0, 0)), side * side)
    yield "bernoulli.p", 1, args(plane, "0.5")
    yield "add.out", 1, args(plane, plane, out=plane)
    yield "sum.default", 1, args(plane)
    yield "_foreach_add_.Scalar", 1, args(f"[{t([], dtype)}, {t([], dtype)}]", 1)


def training_step():
    calls = {}
    for part in (transformer(2, 16, 32, 4, 100, "f32"), transformer(1, 8, 64, 2, 50, "f32"),
                 cnn(2, 8, 16, "f32"), cnn(1, 4, 8, "f32")):
        for op, count, text in part:
            calls.setdefault(f"aten.{op}", []).append((count, text))
    lines = []
    for op in sorted(calls):
        lines.append(f"Operator: {op}")
        lines += [f"cnt: {count}, {text}" for count, text in calls[op]]
    return "\n".join(lines) + "\n"


DTYPES = ["bf16", "f64", "f32", "f16", "c32", "c64", "c128", "i8", "i16", "i32", "i64", "b8", "u8",
          "torch.bool", "torch.uint8", "torch.float32"]
WORDS = ["True", "False", "None", "0", "-1", "12", "1e-05", "2.5", "-0.5", "1.", ".5", "3E+2", "inf",
         "-inf", "nan", "'cuda'", '"cpu"', "'none'", "'it\\'s'", '"torch.device(\'cpu\')"',
         "torch.device('cuda', 1)", "device(type='cuda', index=0)", "torch.strided",
         "torch.sparse_coo", "torch.channels_last", "f16", "1j", "(1+2j)", "()", "[]", "{}",
         "{'a': 1}", "9223372036854775807", "-9223372036854775808"]


def full_syntax(seed, entries=300):
    """Text of random entries. All of it is of the grammar."""
    chance = random.Random(seed)

    def tensor():
        sizes = [chance.choice([0, 1, 2, 7, 128]) for _ in range(chance.randrange(4))]
        text = f"T([{', '.join(map(str, sizes))}], {chance.choice(DTYPES)}"
        if sizes and chance.random() < 0.4:
            strides = [str(chance.randrange(9)) for _ in sizes]
            text += chance.choice([f", stride=({', '.join(strides)},)", f", [{', '.join(strides)}]",
                                   f", stride=[{', '.join(strides)}]"])
        return text + ")"

    def value(depth):
        kind = chance.random()
        if kind < 0.4:
            return tensor()
        if kind < 0.45:
            return "ST([3, 4], f32, torch.sparse_coo, False, 5)"
        if kind < 0.8 or depth == 0:
            return chance.choice(WORDS)
        inside = [value(depth - 1) for _ in range(chance.randrange(4))]
        text = ", ".join(inside)
        last = "," if inside and chance.random() < 0.4 else ""
        return chance.choice([f"[{text}{last}]", f"({text}{last})"])

    lines = []
    for number in range(entries):
        if number % 5 == 0:
            lines.append(f"Operator: {chance.choice(['aten', 'prims'])}.op{number}_"
                         f"{chance.choice(['', '.default', '.Tensor_out'])}")
        positional = [value(2) for _ in range(chance.randrange(5))]
        named = ", ".join(f"'{name}': {value(1)}" for name in
                          chance.sample(["dtype", "device", "layout", "out"], chance.randrange(3)))
        comma = "," if len(positional) == 1 or (positional and chance.random() < 0.2) else ""
        lines.append(f"cnt: {chance.randrange(200)}, (({', '.join(positional)}{comma}), {{{named}}})")
        if chance.random() < 0.05:
            lines.append(chance.choice(["", "  "]))
    end = chance.choice(["\n", "\r\n"])
    return chance.choice(["", "\ufeff"]) + end.join(lines) + chance.choice(["", end])


if __name__ == "__main__":
    import sys
    sys.stdout.write(training_step() if len(sys.argv) < 2 else full_syntax(int(sys.argv[1])))
