#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often assay compare errs: false alarms between runs of one build, and a planted slow-down.

usage: repeated_pairs.py BIN TORCH FOLDER [--pairs N] [--percent P] [--limit S] [--enable GLOB]...

Makes N times three runs on the CPU, one after the other: two of the same checks, and one in which a
single check (slow/tanh, of a pack made here) makes P % more calls. Compares the first with the second
(nothing may be called slower) and the first with the third (that check must be). What is in FOLDER
already is not run again, so that --pairs can be raised later. Run it on a machine that does nothing
else; it is no test, and tools/test does not run it."""
import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "end_to_end"))
import slow_pack  # found through the line above

CALLS = 20
PLANTED = "slow/tanh[float32]"
ENABLED = ["elementwise", "activation", "reduction", "norm", "slow"]


def run(options, packs, file):
    if file.exists():
        return
    command = [options.bin, "run", "--torch", options.torch, "--device", "cpu", "--no-evidence",
               "--plugin-dir", packs, "--profile", "measure", "--measure-limit", options.limit,
               "--json", file.with_suffix(".partial")]
    for glob in options.enable or ENABLED:
        command += ["--enable", glob]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, cwd=options.folder)
    if done.returncode != 0:
        sys.exit(f"assay run ended with {done.returncode}\n{done.stdout}{done.stderr}")
    os.replace(file.with_suffix(".partial"), file)


def compare(options, before, after):
    done = subprocess.run([options.bin, "compare", before, after, "--json"], capture_output=True,
                          text=True, check=False)
    if done.returncode not in (0, 5):
        sys.exit(f"assay compare ended with {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("torch", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--percent", type=int, default=10)
    parser.add_argument("--limit", default="0.5")
    parser.add_argument("--enable", action="append")
    options = parser.parse_args()
    # Runs have the folder as their current one.
    options.bin, options.torch = options.bin.resolve(), options.torch.resolve()
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    usual, planted = options.folder / "packs", options.folder / f"packs-{options.percent}"
    slow_pack.write(usual, CALLS)
    slow_pack.write(planted, round(CALLS * (1 + options.percent / 100)))

    false, found, others, checks = [], 0, [], 0
    for i in range(options.pairs):
        first, second = (options.folder / f"{i:02}-{side}.jsonl" for side in ("a", "b"))
        third = options.folder / f"{i:02}-plus{options.percent}.jsonl"
        run(options, usual, first)
        run(options, usual, second)
        run(options, planted, third)
        same, slower = compare(options, first, second), compare(options, first, third)
        checks = same["times_tested"]
        false += [(i, change["id"], change["ratio"]) for change in same["slower"]]
        ids = [change["id"] for change in slower["slower"]]
        found += PLANTED in ids
        others += [(i, change["id"], change["ratio"]) for change in slower["slower"]
                   if change["id"] != PLANTED]
        busy = next((c for c in slower["slower"] if c["id"] == PLANTED), None)
        print(f"pair {i + 1}: {len(same['slower'])} called slower of {checks}, scatter "
              f"{same.get('scatter_percent')}; planted: "
              f"{'found, x %.3f' % busy['ratio'] if busy else 'not found'}", flush=True)
    for i, id, ratio in false + others:
        print(f"false alarm in pair {i + 1}: {id} x {ratio:.3f}")
    print(f"{options.pairs} pairs, {checks} checks each: {len(false)} false alarms between equal runs, "
          f"{len(others)} beside the planted one; {options.percent} % more calls found in {found} of "
          f"{options.pairs}")


if __name__ == "__main__":
    main()
