#!/usr/bin/env python3
"""Times generic ops by the fast kernels beside the same loops in C, in turn, on one thread.

usage: generic_loops.py TOOLS [--runs N]

The loops compute in double as generic ops do; the compiler is $CC or cc, with -O3 -march=native -ffp-contract=off.
"""

import argparse
import os
import re
import subprocess
import tempfile
from pathlib import Path

MUL = ["Mul %a0, %a1 -> %z"]
# Name, extents of the operands, extents of the result, attributes, steps of the region, loops in C over a, b and r.
CASES = [
    ("matrix product 256^3", ["256, 256", "256, 256"], "256, 256",
     "loops:{i:256, j:256, k:256}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}", MUL,
     "for (int i = 0; i < 256; i++) for (int j = 0; j < 256; j++) { double s = 0; for (int k = 0; k < 256; k++) "
     "s += (double)a[i*256+k] * b[k*256+j]; r[i*256+j] = s; }"),
    ("the same, rows of sums", ["256, 256", "256, 256"], "256, 256",
     "loops:{i:256, j:256, k:256}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}", MUL,
     "for (int i = 0; i < 256; i++) { double s[256] = {0}; for (int k = 0; k < 256; k++) { double x = a[i*256+k]; "
     "for (int j = 0; j < 256; j++) s[j] += x * b[k*256+j]; } for (int j = 0; j < 256; j++) r[i*256+j] = s[j]; }"),
    ("squared distances 256^3", ["256, 256", "256, 256"], "256, 256",
     "loops:{i:256, j:256, k:256}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
     ["Sub %a0, %a1 -> %d", "Mul %d, %d -> %z"],
     "for (int i = 0; i < 256; i++) { double s[256] = {0}; for (int k = 0; k < 256; k++) { double x = a[i*256+k]; "
     "for (int j = 0; j < 256; j++) { double d = x - b[k*256+j]; s[j] += d * d; } } "
     "for (int j = 0; j < 256; j++) r[i*256+j] = s[j]; }"),
    ("chain of 4 on 2^24", ["16777216", "16777216"], "16777216", "loops:{i:16777216}, maps:[[$i], [$i], [$i]]",
     ["Add %a0, %a1 -> %b", "Mul %b, %a0 -> %c", "Sub %c, %a1 -> %d", "Maximum %d, %a0 -> %z"],
     "for (int i = 0; i < 16777216; i++) { double x = a[i], y = b[i], d = (x + y) * x - y; r[i] = d > x ? d : x; }"),
    ("convolution 3x3, 16 to 32, 64x64", ["16, 64, 64", "32, 16, 3, 3"], "32, 64, 64",
     "loops:{o:32, y:64, x:64, c:16, s:3, t:3}, maps:[[$c, $y+$s-1, $x+$t-1], [$o, $c, $s, $t], [$o, $y, $x]], "
     "sums:{c:add, s:add, t:add}, where:[\"$y+$s >= 1\", \"$y+$s <= 64\", \"$x+$t >= 1\", \"$x+$t <= 64\"]", MUL,
     "for (int o = 0; o < 32; o++) for (int y = 0; y < 64; y++) for (int x = 0; x < 64; x++) { double v = 0; "
     "for (int c = 0; c < 16; c++) for (int s = 0; s < 3; s++) for (int t = 0; t < 3; t++) { int h = y+s-1, w = x+t-1; "
     "if (h >= 0 && h < 64 && w >= 0 && w < 64) v += (double)a[(c*64+h)*64+w] * b[((o*16+c)*3+s)*3+t]; } "
     "r[(o*64+y)*64+x] = v; }"),
    ("sums of 4096 rows", ["4096, 4096"], "4096", "loops:{i:4096, k:4096}, maps:[[$i, $k], [$i]], sums:{k:add}",
     ["Neg %a0 -> %z"],
     "for (int i = 0; i < 4096; i++) { double s = 0; for (int k = 0; k < 4096; k++) s += -(double)a[i*4096+k]; r[i] = s; }"),
    ("maximum of 2x2, 64x256x256", ["64, 256, 256"], "64, 128, 128",
     "loops:{c:64, y:128, x:128, s:2, t:2}, maps:[[$c, 2*$y+$s, 2*$x+$t], [$c, $y, $x]], sums:{s:max, t:max}", ["Neg %a0 -> %z"],
     "for (int c = 0; c < 64; c++) for (int y = 0; y < 128; y++) for (int x = 0; x < 128; x++) { double m = -1e300; "
     "for (int s = 0; s < 2; s++) for (int t = 0; t < 2; t++) { double v = -(double)a[(c*256+2*y+s)*256+2*x+t]; "
     "if (v > m || v != v) m = v; } r[(c*128+y)*128+x] = m; }"),
    ("tiles turned round, 2^22", ["4096, 1024"], "4096, 1024",
     "loops:{i:4096, j:1024}, maps:[[$i, $j/32*32+31-$j%32], [$i, $j]]", ["Neg %a0 -> %z"],
     "for (int i = 0; i < 4096; i++) for (int j = 0; j < 1024; j++) r[i*1024+j] = -(double)a[i*1024+(j/32*32+31-j%32)];"),
    ("rows that data selects, 2^14 of 256", ["512, 256", "16384"], "16384, 256",
     "loops:{i:16384, j:256}, maps:[[$r, $j], [$i], [$i, $j]], indices:{r:1}", ["Neg %a0 -> %z"],
     "for (int i = 0; i < 16384; i++) for (int j = 0; j < 256; j++) r[i*256+j] = -(double)a[((int*)b)[i]*256+j];"),
]


def tensor(extents, dtype="Float32"):
    return f"tensor<[{extents}], {dtype}, CPU>"


def module(operands, result, attributes, steps):
    dtypes = ["Int32" if "indices:{r:1}" in attributes and i == 1 else "Float32" for i in range(len(operands))]
    numbers = [tensor("", dtype if dtype == "Int32" else "Float64") for dtype in dtypes]
    values = ", ".join(f"%i{i}:{tensor(extents, dtypes[i])}" for i, extents in enumerate(operands))
    lines = [f"@main [mir_version:2] ({values}) -> (%r:{tensor(result)}) {{",
             f"linalg.CPU.GenericOp [{attributes}] ({', '.join(f'%i{i}' for i in range(len(operands)))}) -> (%r) {{",
             f"({', '.join(f'%a{i}:{number}' for i, number in enumerate(numbers))}) -> (%z:{tensor('', 'Float64')}) {{"]
    for step in steps:
        name, rest = step.split(" ", 1)
        inputs, output = rest.split(" -> ")
        lines.append(f"linalg.CPU.{name}Op ({inputs}) -> ({output})")
    return "\n".join([*lines, "cf.YieldOp (%z) -> ()", "}", "}", "cf.ReturnOp (%r) -> ()", "}", ""])


def c_text():
    functions = [f"__attribute__((noinline)) static void f{i}(const float *a, const float *b, float *r) {{ (void)b; {case[5]} }}"
                 for i, case in enumerate(CASES)]
    return "\n".join(["#include <stdio.h>", "#include <stdlib.h>", "#include <time.h>", *functions,
                      "static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); "
                      "return 1e3 * t.tv_sec + t.tv_nsec / 1e6; }",
                      "int main(int argc, char **argv) { size_t n = 1 << 24; float *a = malloc(4*n), *b = malloc(4*n), *r = malloc(4*n);",
                      "void (*all[])(const float *, const float *, float *) = {"
                      + ", ".join(f"f{i}" for i in range(len(CASES))) + "};",
                      "int which = argc > 1 ? atoi(argv[1]) : 0, is_index = argc > 2;",
                      "for (size_t i = 0; i < n; i++) { a[i] = (float)(i * 2654435761u % 65536) / 65536 - 0.5f; b[i] = -a[i] / 3; r[i] = 0;",
                      "if (is_index) ((int *)b)[i] = (int)(i * 7919 % 512); }",
                      "for (int k = 0; k < 5; k++) { double t = now(); all[which](a, b, r); printf(\"%f\\n\", now() - t); }",
                      "fprintf(stderr, \"%g\\n\", (double)r[7]); return 0; }", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "loops.c").write_text(c_text())
        subprocess.run([os.environ.get("CC", "cc").split()[-1], "-O3", "-march=native", "-ffp-contract=off",
                        folder / "loops.c", "-o", folder / "loops"], check=True)
        print(f"{'':38}{'generic op':>12}{'C':>10}{'ratio':>8}   ms, the least of {options.runs} runs")
        for number, (name, operands, result, attributes, steps, _) in enumerate(CASES):
            (folder / "op.mir").write_text(module(operands, result, attributes, steps))
            is_index = "indices" in attributes
            inputs = [f"--input=%i{i}=random:{i}" for i in range(len(operands))]
            ours, theirs = [], []
            for _ in range(options.runs):
                for _ in range(2):
                    done = subprocess.run([options.tools / "mllm-interp", folder / "op.mir", *inputs, "--kernels=fast", "--threads=1",
                                           "--print-outputs=no", "--profile", "--then=1"], capture_output=True, text=True, check=True)
                    found = re.findall(r"^  Generic +\d+ +([0-9.]+)", done.stdout + done.stderr, re.MULTILINE)
                    ours += [float(time) for time in found]
                done = subprocess.run([folder / "loops", str(number), *(["index"] if is_index else [])],
                                      capture_output=True, text=True, check=True)
                theirs += [float(line) for line in done.stdout.split()]
            print(f"{name:38}{min(ours):12.2f}{min(theirs):10.2f}{min(ours) / min(theirs):8.1f}")


if __name__ == "__main__":
    main()
