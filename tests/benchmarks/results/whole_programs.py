#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whole_programs.py BUILD [REPEATS]: time and memory of `assay compare` and `assay history` on large
inputs, as whole programs. BUILD is an optimised build with the target assay_result_benchmarks."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMITS = {"compare": (0.5, 300), "history": (0.3, None)}


def measured(command, folder):
    """(status, seconds, MB at the most)"""
    with open(folder / "output", "wb") as output:
        begin = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, stdout=output, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, time.perf_counter() - begin, usage.ru_maxrss / 1000


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([build / "tests" / "assay_result_benchmarks", "--make", folder], check=True)
        assay = build / "bin" / "assay"
        for what, words, wanted in [
                ("compare", ["before.jsonl", "after.jsonl"], 5),
                ("history", ["--store", "runs.sqlite"], 0)]:
            taken = []
            for _ in range(repeats):
                status, seconds, megabytes = measured([assay, what, *words], folder)
                if status != wanted:
                    sys.exit(f"assay {what} ended with {status}, not {wanted}")
                taken.append((seconds, megabytes))
            times = sorted(seconds for seconds, _ in taken)
            most = max(megabytes for _, megabytes in taken)
            longest, largest = LIMITS[what]
            holds = times[len(times) // 2] < longest and (largest is None or most < largest)
            missed = missed or not holds
            print(f"{what}: median {times[len(times) // 2]:.3f} s, least {times[0]:.3f} s, "
                  f"most {times[-1]:.3f} s, {most:.0f} MB; "
                  f"target {longest} s{f', {largest} MB' if largest else ''}: "
                  f"{'holds' if holds else 'missed'}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
