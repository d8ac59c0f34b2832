# SPDX-License-Identifier: Apache-2.0
"""An op pack whose one check, slow/tanh, takes as long as the number of its calls says."""

PACK = """[pack]
format = 1
id = "com.example.slow"
version = "1"
vendor = "Example"

[[category]]
name = "slow"

[[check]]
name = "slow/tanh"
inputs = [{{ shape = [64, 256] }}]
calls = [{calls}]
"""


def write(folder, calls):
    folder.mkdir(parents=True, exist_ok=True)
    steps = ", ".join(f"'r{i} = aten::tanh({'in0' if i == 0 else f'r{i - 1}'})'"
                      for i in range(calls))
    (folder / "slow.assay.toml").write_text(PACK.format(calls=steps), encoding="utf-8")
