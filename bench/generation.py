#!/usr/bin/env python3
"""Times a module that generates against separate runs of the same decoder, and the turns of a loop.

  bench/generation.py TOOLS [--runs 5] [--tokens 128] [--make OPTION ...]

TOOLS is the folder of a release build. Both ways start alike and take turns as whole processes: `generate.mir`, and
`model.mir` with `--then` and `--feed`. The least times count, since others vary by a tenth on a shared machine. What a
process without the tokens takes is subtracted. OPTIONs are those of mllm-make-decoder.
"""
import argparse
import re
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

DECODER = ["--layers=12", "--hidden=512", "--heads=8", "--kv-heads=4", "--ffn=1408", "--vocab=4096", "--max-positions=512",
           "--logits=last"]
PROMPT = list(range(1, 9))
TURNS = 1_000_000
LOOP = """@main [mir_version:2] (%x:tensor<[1], Float32, CPU>, %n:tensor<[1], Int32, CPU>) -> (%y:tensor<[1], Float32, CPU>) {
    cf.ForOp (%z:tensor<[1], Int32, CPU>[constant:[0]], %n, %o:tensor<[1], Int32, CPU>[constant:[1]], %x) -> (%y:tensor<[1], Float32, CPU>) {
        (%i:tensor<[1], Int32, CPU>, %a:tensor<[1], Float32, CPU>) -> (%b:tensor<[1], Float32, CPU>) {
            linalg.CPU.AddOp (%a, %x) -> (%b)
            cf.YieldOp (%b) -> ()
        }
    }
    cf.ReturnOp (%y) -> ()
}
"""


def seconds(*command):
    """The wall time of a command."""
    begin = time.perf_counter()
    subprocess.run([str(each) for each in command], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def cpu_seconds(*command):
    """The time that a command takes of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    seconds(*command)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def time_decoder(tools, options, tokens, runs, scratch):
    """Prints tokens a second of both ways, by threads."""
    subprocess.run([tools / "mllm-make-decoder", *options, f"--generate={tokens}", "-o", scratch], check=True)
    weights = next(path for path in sorted(scratch.iterdir()) if path.suffix in (".safetensors", ".gguf", ".mllm"))
    logits = re.findall(r"^    cf\.ReturnOp \((%\w+)", (scratch / "model.mir").read_text(), re.MULTILINE)[-1]
    for threads in (1, 2):
        common = ["-w", weights, "-i", f"ids=[{PROMPT}]", "--kernels=fast", f"--threads={threads}", "--print-outputs=no"]
        prompt = [tools / "mllm-interp", scratch / "model.mir", *common, "-i", f"positions=[{list(range(len(PROMPT)))}]"]
        ways = {
            "generate.mir": [tools / "mllm-interp", scratch / "generate.mir", *common, "-i", "end=[-1]"],
            "--then": [*prompt, f"--then={tokens - 1}", f"--feed=ids=argmax({logits})", "--feed=positions=$past"],
            "prompt alone": prompt,
        }
        times = {way: [] for way in ways}
        for _ in range(runs):
            for way, command in ways.items():
                times[way].append(seconds(*command))
        start = min(times.pop("prompt alone"))
        for way, found in times.items():
            print(f"{threads} threads, {way}: {(tokens - 1) / (min(found) - start):.1f} tokens/s")


def time_turns(tools, runs, scratch):
    """Prints what a turn of a loop takes whose region adds two numbers."""
    text = scratch / "loop.mir"
    text.write_text(LOOP)
    command = [tools / "mllm-interp", text, "-i", "x=[1]", "--kernels=fast", "--print-outputs=no"]
    found = [cpu_seconds(*command, "-i", f"n=[{TURNS}]") - cpu_seconds(*command, "-i", "n=[0]") for _ in range(runs)]
    print(f"a turn of a loop with its Add: {statistics.median(found) / TURNS * 1e6:.2f} us")


def main():
    """Runs both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--make", nargs="+", default=DECODER, metavar="OPTION")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        time_turns(arguments.tools, arguments.runs, scratch)
        time_decoder(arguments.tools, arguments.make, arguments.tokens, arguments.runs, scratch)


if __name__ == "__main__":
    main()
