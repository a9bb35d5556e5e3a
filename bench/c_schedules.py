#!/usr/bin/env python3
"""Times schedules of products as C beside the fast kernel, and an elementwise chain as C beside reading, in turn, on one thread.

usage: c_schedules.py TOOLS [--runs N]

The compiler is $CC or cc, with -O3 -march=native -ffp-contract=off. Times are medians of the runs, each the least of several calls.
"""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

CALLS = 40
SCHEDULES = {
    "bits": "decompose{to=generic},tile{i0=4,i1=16},vector{loops=[i1_in]},pack{operand=1}",
    "bound": "decompose{to=generic},accumulate{block=256,fma},tile{i0=8,i1=32},vector{loops=[i1_in]},pack{operand=1}",
}
PRODUCTS = [(512, 512, 512), (128, 1024, 1024), (509, 512, 503)]
CHAIN = 1 << 22
CHAIN_OPS = """    linalg.CPU.AddOp(%a, %b) -> (%s)
    linalg.CPU.MulOp(%s, %c) -> (%t)
    linalg.CPU.SubOp(%t, %d) -> (%u)
    linalg.CPU.MulOp(%u, %a) -> (%y)
"""


def tensor(*extents):
    return f"tensor<[{', '.join(map(str, extents))}], Float32, CPU>"


def product_text(rows, depth, columns):
    return (f"@product [mir_version:2] (%a:{tensor(rows, depth)}, %b:{tensor(depth, columns)}) -> (%y:{tensor(rows, columns)}) {{\n"
            "    linalg.CPU.MatMulOp [transpose_b:false] (%a, %b) -> (%y)\n    cf.ReturnOp (%y) -> ()\n}\n")


def chain_text():
    ports = ", ".join(f"%{name}:{tensor(CHAIN)}" for name in "abcd")
    return f"@chain [mir_version:2] ({ports}) -> (%y:{tensor(CHAIN)}) {{\n{CHAIN_OPS}    cf.ReturnOp (%y) -> ()\n}}\n"


def harness(name, inputs, result):
    """A program that prints the least time of a call in milliseconds."""
    arrays = [f"array({count}, {seed})" for seed, count in enumerate(inputs)]
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"
static float* array(size_t count, unsigned seed) {{
  float* const made = aligned_alloc(64, (4 * count + 63) / 64 * 64);
  for (size_t i = 0; i < count; ++i) made[i] = (float)((i + seed) * 2654435761u % 65536) / 65536 - 0.5f;
  return made;
}}
static double now(void) {{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + (double)t.tv_nsec / 1e6;
}}
int main(void) {{
  float* const in[] = {{{', '.join(arrays)}}};
  float* const out = array({result}, 9);
  void* const workspace = aligned_alloc(64, ({name}_workspace_bytes + 127) / 64 * 64);
  double least = 1e30;
  for (int call = 0; call < {CALLS}; ++call) {{
    const double begin = now();
    if ({name}_run({', '.join(f'in[{i}]' for i in range(len(inputs)))}, out, workspace) != 0) return 1;
    const double time = now() - begin;
    if (time < least) least = time;
  }}
  printf("%f\\n", least);
  return out[7] == 1e30f;
}}
"""


READING = f"""#include <stdint.h>
int reading_run(const float* a, const float* b, const float* c, const float* d, float* y, void* workspace) {{
  float sum[64] = {{0}};
  for (int64_t i = 0; i < {CHAIN}; i += 64) {{
    for (int64_t j = 0; j < 64; ++j) sum[j] += (a[i + j] + b[i + j]) + (c[i + j] + d[i + j]);
  }}
  for (int64_t j = 0; j < 64; ++j) y[j] = sum[j];
  (void)workspace;
  return 0;
}}
"""


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Programs:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.compile = [os.environ.get("CC", "cc").split()[-1], "-O3", "-march=native", "-ffp-contract=off"]

    def build(self, name, text, pipeline, inputs, result):
        """The path of a program that calls the module."""
        at = self.folder / f"{len(list(self.folder.iterdir()))}"
        at.mkdir()
        (at / "module.mir").write_text(text)
        for kind, end in (("c", "c"), ("c-header", "h")):
            run([self.tools / "mllm-opt", "-p", pipeline, f"--emit={kind}", at / "module.mir", "-o", at / f"{name}.{end}"])
        return self.link(at, name, inputs, result)

    def link(self, at, name, inputs, result):
        (at / "main.c").write_text(harness(name, inputs, result))
        run([*self.compile, at / f"{name}.c", at / "main.c", "-o", at / "program", "-lm"])
        return at / "program"

    def reading(self):
        at = self.folder / "reading"
        at.mkdir()
        (at / "reading.c").write_text(READING)
        (at / "reading.h").write_text("#define reading_workspace_bytes 0\nint reading_run(const float*, const float*, const float*, "
                                      "const float*, float*, void*);\n")
        return self.link(at, "reading", [CHAIN] * 4, CHAIN)

    def fast(self, module, kind):
        done = subprocess.run([self.tools / "mllm-interp", module, "--input=%a=random:1", "--input=%b=random:2", "--kernels=fast",
                               "--threads=1", "--print-outputs=no", "--profile", f"--then={CALLS}"],
                              capture_output=True, text=True, check=True)
        rows = re.findall(rf"^  {kind} +(\d+) +([0-9.]+)", done.stdout + done.stderr, re.MULTILINE)
        return min(float(time) / int(runs) for runs, time in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        programs = Programs(options.tools, Path(scratch))
        for rows, depth, columns in PRODUCTS:
            text = product_text(rows, depth, columns)
            module = Path(scratch) / "product.mir"
            module.write_text(text)
            built = {name: programs.build("product", text, pipeline, [rows * depth, depth * columns], rows * columns)
                     for name, pipeline in SCHEDULES.items()}
            times = {name: [] for name in ["fast", *built]}
            for _ in range(options.runs):
                times["fast"].append(programs.fast(module, "MatMul"))
                for name, program in built.items():
                    times[name].append(float(run([program])))
            medians = {name: statistics.median(each) for name, each in times.items()}
            for name, median in medians.items():
                rate = 2e-6 * rows * depth * columns / median
                print(f"product {rows}x{depth}x{columns}, {name:14}{median:10.2f} ms{rate:8.1f} GFLOP/s{medians['fast'] / median:8.0%}")
        chain = programs.build("chain", chain_text(), "decompose{to=generic},fuse-producer", [CHAIN] * 4, CHAIN)
        reading = programs.reading()
        times = [(float(run([chain])), float(run([reading]))) for _ in range(options.runs)]
        ours, theirs = (statistics.median(each) for each in zip(*times))
        print(f"chain of 4 on {CHAIN} elements: {ours:.2f} ms, {20e-6 * CHAIN / ours:.1f} GB/s read and written; "
              f"reading alone: {theirs:.2f} ms, {16e-6 * CHAIN / theirs:.1f} GB/s; {20 * theirs / (16 * ours):.0%}")


if __name__ == "__main__":
    main()
