#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The input generator in whole numbers of Python, independent of the C++ one.

Without arguments: prints tests/unit/golden/generator.txt, with which generator_test.cpp compares
the C++ generator. With --check FILE: compares that file with what it would print."""
import math
import struct
import sys

MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15
SCALE = 1 / math.sqrt(4 * (65536**2 - 1) / 12)


def input_seed(check, position, seed):
    h = 0xCBF29CE484222325
    for byte in f"{check}#{position}".encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h ^ (seed * GAMMA & MASK)


def draw(h, i):
    z = (h + (i + 1) * GAMMA) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def normal_bits(z):
    total = sum((z >> shift) & 0xFFFF for shift in (0, 16, 32, 48)) - 131070
    return struct.unpack("<I", struct.pack("<f", (total or 1) * SCALE))[0]


def uniform(z, low, high, floating):
    value = low + (z >> 11) * 2.0**-53 * (high - low)
    if floating and value == 0:
        return high / 2 if high != 0 else low / 2
    return value


def lines():
    for check, position, seed in (("elementwise/add", 0, 0), ("elementwise/add", 1, 0),
                                  ("conv/conv2d", 1, 1), ("linear/mm", 0, MASK)):
        h = input_seed(check, position, seed)
        for i in (0, 1, 2, 65535, 1 << 33):
            z = draw(h, i)
            even = struct.unpack("<Q", struct.pack("<d", uniform(z, -0.3, 1.7, True)))[0]
            index = math.floor(uniform(z, -5.0, 1000.0, False))
            mask = int((z >> 11) * 2.0**-53 < 0.25)
            yield (f"{check} {position} {seed} {i} {z:016x} {normal_bits(z):08x} {even:016x} "
                   f"{index} {mask}\n")


def main():
    text = "".join(lines())
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            return 0 if file.read() == text else f"{sys.argv[2]} differs from the reference"
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
