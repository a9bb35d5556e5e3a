"""What mllm-interp reads from a weight file."""

import subprocess
from pathlib import Path

import numpy as np


def module_text(tensors):
    """A module that gives its parameters back."""
    types = [f"tensor<[{', '.join(map(str, shape))}], {kind}, CPU>" for _, kind, shape in tensors]
    results = ", ".join(f"%{i}:{text}" for i, text in enumerate(types))
    registers = [f"tensor.CPU.register () -> (%{i}:{text}[@{name}]) [symbol:{name}]"
                 for i, (text, (name, *_)) in enumerate(zip(types, tensors))]
    values = ", ".join(f"%{i}:{text}[@{name}]"
                       for i, (text, (name, *_)) in enumerate(zip(types, tensors)))
    return "\n".join([f"@main [mir_version:1] () -> ({results}) {{",
                      "graph.SubGraphOp @init <CPU> { () -> () {", *registers, "} }",
                      f"cf.ReturnOp ({values}) -> ()", "}", ""])


def read_parameters(tools, weights, tensors):
    """The arrays of (name, type, shape) triples, by name; written in the current folder."""
    Path("m.mir").write_text(module_text(tensors))
    subprocess.run([f"{tools}/mllm-interp", "m.mir", f"--weights={weights}", "--output=out.npz",
                    "--print-outputs=no"], check=True)
    with np.load("out.npz") as outputs:
        return {name: outputs[name] for name, *_ in tensors}
