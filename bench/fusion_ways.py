#!/usr/bin/env python3
"""Times decoders by the pipeline that fuses their operations, and with groups that the file states.

  bench/fusion_ways.py TOOLS [--runs 7] [--tokens 32] [--types Float32 ...] [--threads 1 2] [--config JSON]

TOOLS is the folder of a release build. For each type of the projections, the decoder of the config runs as `--fusion=off`, `exact` and `all`, and as the module that `mllm-opt -p fusion-all` writes, with `--fusion=stated`.
The four take turns. The columns:

  tokens/s  the most of the runs: single tokens after a prompt of 32
  hash      of the output after the last token; off and exact must agree, and all and the written module (exit with 1 otherwise)

Then the processor time of a whole process that runs one token of a small decoder of 24 layers: the least and the median of
five times as many runs.
"""
import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import decoders

TYPES = ["Float32", "BFloat16", "Q8_0", "Q4_0"]
DECODER = decoders.qwen2(layers=12, hidden=512, heads=8, kv_heads=4, ffn=1408, vocab=4096, positions=512)
SMALL = decoders.qwen2(layers=24, hidden=64, heads=4, kv_heads=2, ffn=128, vocab=256, positions=64)
WAYS = {"off": "off", "exact": "exact", "all": "all", "written": "stated"}
PROMPT = 32


class Decoder:
    """A decoder of a config, and its runs."""

    def __init__(self, tools, config, folder, linears="Float32"):
        self.tool = tools / "mllm-interp"
        self.text, self.weights = decoders.make(tools, folder, config, linears)
        self.fused = folder / "fused.mir"
        subprocess.run([tools / "mllm-opt", "-p", "fusion-all", self.text, "-o", self.fused], check=True)
        self.output = re.findall(r"^    cf\.ReturnOp \((%\w+)", self.text.read_text(), re.MULTILINE)[-1]

    def run(self, way, prompt, threads, *options):
        return subprocess.run(
            [self.tool, self.fused if way == "written" else self.text, "-w", self.weights, "--kernels=fast",
             "--threads=%d" % threads, "--fusion=" + WAYS[way],
             "-i", "ids=random:1", "--bind=B=1", "--bind=S=%d" % prompt, *options],
            check=True, capture_output=True, text=True).stdout

    def decode(self, way, threads, tokens):
        """Tokens per second, and the hash of the last output."""
        text = self.run(way, PROMPT, threads, "--then=%d" % tokens, "--feed=ids=argmax(%s)" % self.output,
                        "--profile")
        taken = float(re.search(r"^runs 1 to \d+.*, ([\d.]+) ms in all", text, re.MULTILINE)[1])
        return tokens / taken * 1000, re.findall(r"hash (\w+)", text)[-1]

    def start(self, way):
        """Milliseconds of processors that a process takes for one token."""
        def used():
            usage = resource.getrusage(resource.RUSAGE_CHILDREN)
            return usage.ru_utime + usage.ru_stime
        before = used()
        self.run(way, 1, 1, "--print-outputs=no")
        return (used() - before) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--types", nargs="+", default=TYPES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--config", type=json.loads, default=DECODER)
    args = parser.parse_args()
    differs = False
    print("| weights | threads | " + " | ".join(WAYS) + " | hash |\n|---|---|" + "---|" * (len(WAYS) + 1))
    for dtype in args.types:
        with tempfile.TemporaryDirectory() as folder:
            decoder = Decoder(args.tools, args.config, Path(folder), dtype)
            for threads in args.threads:
                found = {way: [] for way in WAYS}
                for _ in range(args.runs):
                    for way in WAYS:
                        found[way].append(decoder.decode(way, threads, args.tokens))
                hashes = {way: {each for _, each in runs} for way, runs in found.items()}
                same = all(len(hashes[a] | hashes[b]) == 1 for a, b in (("off", "exact"), ("all", "written")))
                differs = differs or not same
                print("| %s | %d | %s | %s |" % (dtype, threads,
                                                 " | ".join("%.1f" % max(speed for speed, _ in runs)
                                                            for runs in found.values()),
                                                 "equal" if same else "different"), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        decoder = Decoder(args.tools, SMALL, Path(folder))
        times = {way: [] for way in WAYS}
        for _ in range(5 * args.runs):
            for way in WAYS:
                times[way].append(decoder.start(way))
    print("\n| start of 24 layers | least, ms | median, ms |\n|---|---|---|")
    for way, found in times.items():
        print("| %s | %.1f | %.1f |" % (way, min(found), statistics.median(found)))
    sys.exit(1 if differs else 0)


if __name__ == "__main__":
    main()
