#!/usr/bin/env python3
"""Plants an error into one op of a decoder of 24 layers and lets --against find it.

For each planted error the tool must name that op, and its peak memory must be below that of a plain
run plus a tenth.

usage: divergence.py TOOLS
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIG = {"architectures": ["Qwen2ForCausalLM"], "num_hidden_layers": 24, "hidden_size": 192, "num_attention_heads": 6,
          "num_key_value_heads": 2, "intermediate_size": 512, "vocab_size": 512, "max_position_embeddings": 64}
# Of layer 17: what is replaced in the text of its graph, and the op that is to be found.
PLANTED = {
    "another activation": ("linalg.CPU.SiLUOp", "linalg.CPU.GELUOp", "linalg.SiLUOp"),
    "another epsilon": ("[epsilon:1e-06]", "[epsilon:0.01]", "linalg.RMSNormOp"),
    "nothing at all": ("[transpose_b:true]", "[transpose_b:true, transpose_a:false]", None),
    "another scale": ("constant:[0.1", "constant:[0.2", "linalg.MulOp"),
}
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def measured(command):
    """Exit status and peak resident KiB of a command, in a process tree of its own."""
    done = subprocess.run([sys.executable, "-c", MEASURE, *command], capture_output=True, text=True, check=True)
    code, peak = done.stdout.split()
    return int(code), int(peak)


def planted(text, graph, old, new):
    """The text with the first `old` in this graph replaced."""
    begin = text.index(f"graph.SubGraphOp @{graph} <")
    at = text.index(old, begin)
    return text[:at] + new + text[at + len(old):]


def graph_of(kind):
    layer = "model.layers.17"
    return {"another activation": f"{layer}.mlp", "another epsilon": layer}.get(kind, f"{layer}.self_attn")


def main():
    tools = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "config.json").write_text(json.dumps(CONFIG))
        subprocess.run([tools / "mllm-import", folder, "--quiet", "-o", folder / "model.mir"], check=True)
        weights = folder / "model.safetensors"
        subprocess.run([tools / "mllm-weights", "invent", folder / "model.mir", "-o", weights], check=True)
        text = (folder / "model.mir").read_text()
        run = [tools / "mllm-interp", folder / "model.mir", f"--weights={weights}", "--bind=B=1", "--bind=S=6",
               "--input=ids=random:1"]
        code, alone = measured(run)
        assert code == 0, "the plain run fails"
        for kind, (old, new, op) in PLANTED.items():
            other = folder / "other.mir"
            other.write_text(planted(text, graph_of(kind), old, new))
            report = folder / "report.json"
            code, peak = measured([*run, f"--against={other}", f"--report={report}"])
            found = json.loads(report.read_text())["divergence"]
            if op is None:
                assert code == 0 and found is None, f"{kind}: {found}"
            else:
                assert code == 1, f"{kind}: exit status {code}"
                assert (found["place"]["op"], found["place"]["graph"]) == (op, graph_of(kind)), f"{kind}: {found}"
            assert peak <= alone * 1.1, f"{kind}: {peak} KiB, alone {alone} KiB"
            print(f"{kind}: {found['reason'] if found else 'no divergence'}; {peak} KiB, alone {alone} KiB")


if __name__ == "__main__":
    main()
