#!/usr/bin/env python3
"""Times a module that generates against separate runs of the same decoder, and the turns of a loop.

  bench/generation.py TOOLS [--runs 5] [--tokens 128]

TOOLS is the folder of a release build. Both ways start alike and take turns as whole processes: a module whose loop calls
the decoder, and the decoder with `--then` and `--feed`. The least times count, since others vary by a tenth on a shared
machine. What a process without the tokens takes is subtracted.
"""
import argparse
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import decoders

DECODER = decoders.qwen2(layers=12, hidden=512, heads=8, kv_heads=4, ffn=1408, vocab=4096, positions=512)
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
# After the graphs of a decoder: the likeliest token after the prompt, and after each token so far.
GENERATION = """    graph.SubGraphOp @next <CPU> {{
        (%t:tensor<[1, $S], Int64, CPU>) -> (%token:tensor<[1, 1], Int64, CPU>) {{
            graph.CallGraphOp @decoder (%t) -> (%scores)
            linalg.CPU.TopKOp [k:1] (%scores) -> (%value, %index)
            linalg.CPU.CastTypeOp [dtype:Int64] (%index) -> (%wide)
            linalg.CPU.ViewOp [to_shape:[1, 1]] (%wide) -> (%token)
            cf.ReturnOp (%token) -> ()
        }}
    }}
    graph.CallGraphOp @next (%ids) -> (%first)
    cf.ForOp (%zero:tensor<[1], Int32, CPU>[constant:[0]], %n:tensor<[1], Int32, CPU>[constant:[{steps}]], %one:tensor<[1], Int32, CPU>[constant:[1]], %first) -> (%token:tensor<[1, 1], Int64, CPU>) {{
        (%i:tensor<[1], Int32, CPU>, %t:tensor<[1, 1], Int64, CPU>) -> (%u:tensor<[1, 1], Int64, CPU>) {{
            graph.CallGraphOp @next (%t) -> (%u)
            cf.YieldOp (%u) -> ()
        }}
    }}
    cf.ReturnOp (%token) -> ()
}}
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


def generating(decoder, steps):
    """The text of a module whose loop calls a decoder, which becomes one of its graphs."""
    head, *lines = decoder.replace("$B", "1").splitlines()
    graphs, body = [], []
    for line in lines[:-1]:
        is_graph = line.startswith("    graph.SubGraphOp") or (graphs and not graphs[-1] == "    }" and not body)
        (graphs if is_graph else body).append(line)
    ports = head[head.index("] (") + 2:]
    text = ["@main [mir_version:2] (%ids:tensor<[1, $S], Int64, CPU>) -> (%token:tensor<[1, 1], Int64, CPU>) {", *graphs,
            "    graph.SubGraphOp @decoder <CPU> {", f"        {ports}", *(f"        {line}" for line in body), "        }", "    }"]
    return "\n".join(text) + "\n" + GENERATION.format(steps=steps)


def time_decoder(tools, tokens, runs, scratch):
    """Prints tokens a second of both ways, by threads."""
    model, weights = decoders.make(tools, scratch, DECODER)
    (scratch / "generate.mir").write_text(generating(model.read_text(), tokens - 1))
    for threads in (1, 2):
        common = ["-w", weights, "-i", f"ids=[{PROMPT}]", "--kernels=fast", f"--threads={threads}", "--print-outputs=no"]
        prompt = [tools / "mllm-interp", model, *common]
        ways = {
            "a loop": [tools / "mllm-interp", scratch / "generate.mir", *common],
            "--then": [*prompt, f"--then={tokens - 1}", "--feed=ids=argmax(%logits)"],
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
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        time_turns(arguments.tools, arguments.runs, scratch)
        time_decoder(arguments.tools, arguments.tokens, arguments.runs, scratch)


if __name__ == "__main__":
    main()
