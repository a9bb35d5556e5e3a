#!/usr/bin/env python3
"""Every option that names something in the input refuses a name that the input does not have.

usage: names.py TOOLS

The options come from the rows of the tools. Each is given a name that exists, which succeeds, and one with a slip, which
fails and names the option, the name and the name that was meant. An option without an argument of a known form fails
this test, and so does one that takes a name without telling what it names.
"""

import json
import struct
import sys
import tempfile
from pathlib import Path

import tool_rows

T = "tensor<[2, $seq], Float32, CPU>"
MODULE = f"""@main [mir_version:1] (%ids:{T}) -> (%logits:{T}) {{
    linalg.CPU.MySwish [name="act"](%ids:{T}) -> (%logits:{T})
    graph.SubGraphOp @swish <CPU> {{
        (%in:{T}) -> (%out:{T}) {{
            linalg.CPU.SigmoidOp (%in:{T}) -> (%out:{T})
            cf.ReturnOp (%out:{T}) -> ()
        }}
    }}
    cf.ReturnOp (%logits:{T}) -> ()
}}
"""
# What the input has, and a slip of it.
NAMES = {"module": ("main", "maim"), "graph": ("swish", "swihs"), "symbol": ("seq", "sec"), "input": ("ids", "idz"),
         "output": ("logits", "logitz"), "result": ("logits", "logitz"), "op": ("MySwish", "MySwihs"),
         "tensor": ("norm.weight", "norm.wieght"), "pass": ("simplify", "inline"), "value": ("logits", "logitz")}
# How arguments contain a name, by the argument's name on the help page.
FORMS = {
    "NAME": {"module": ["{}", "@{}"]},
    "VALUE": {"value": ["{}", "%{}"]},
    "GRAPH": {"graph": ["{}", "@{}"]},
    "[GRAPH*]N": {"graph": ["{}*0", "@{}*0", "@{}*1"]},
    "TYPE=GRAPH": {"op": ["{}=swish", "{}=@swish", "linalg.{}=swish"], "graph": ["MySwish={}", "MySwish=@{}"]},
    "S=N": {"symbol": ["{}=3", "${}=3"]},
    "[PORT=]SPEC": {"input": ["{}=x.npy", "%{}=x.npy"], "output": ["{}=x.npy", "%{}=x.npy", "{}={{run}}.npy"]},
    "IN=SOURCE": {"input": ["{}=%logits", "%{}=%logits"], "output": ["ids=%{}"]},
    "[PORT=]FILE": {"output": ["{}=out.npy", "%{}=out.npy"]},
    "PATTERNS": {"result": ["%{}", "@main%{}"]},
    "PATTERN": {"tensor": ["{}"]},
    "PATTERN=NAME": {"tensor": ["{}=other"]},
    "[PATTERN=]TYPE": {"tensor": ["{}=f16"]},
    "PATTERN=LAYOUT:NxK": {"tensor": ["{}=qsi4c32p4x8:32x32"]},
    "A,B": {"pass": ["{}"]},
}
# Arguments that name nothing in the input.
PLAIN = {"FORM", "FORMAT", "N", "K", "X", "LEVEL", "WHAT", "WHEN", "WHICH", "ANSWER", "CODE", "code", "exact", "SET", "TYPE",
         "SIZE", "SECONDS", "A:B", "KEY=TEXT", "[TYPE:]ITEMS", "LEVEL", "PASS", "FILE", "FOLDER", "DIR", "PATH", "SPEC",
         "PIPELINE"}
# Facts name what a dump lost: the upgrade refuses them, as an error of the text.
FACTS = {"FACT", "S@inputN:D"}
BASE = {
    ("mllm-diff", ""): ["b.mir", "b.mir"],
    ("mllm-interp", ""): ["a.mir", "--kernels=fast"],
    ("mllm-opt", ""): ["-p", "simplify", "b.mir"],
    ("mllm-pack", "create"): ["create", "a.mir", "-o", "p.mirz"],
    ("mllm-parse", ""): ["b.mir"],
    ("mllm-weights", "convert"): ["convert", "w.safetensors", "-o", "out.safetensors"],
    ("mllm-weights", "match"): ["match", "empty.mir", "empty.safetensors"],
}


def write_safetensors(path, header, size):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))


def prepare(folder, tools):
    (folder / "a.mir").write_text(MODULE)
    (folder / "b.mir").write_text(MODULE.replace("MySwish", "SiLUOp").replace("[name=\"act\"]", ""))
    (folder / "empty.mir").write_text("@main [mir_version:1] () -> () {\n    cf.ReturnOp () -> ()\n}\n")
    write_safetensors(folder / "empty.safetensors", {}, 0)
    write_safetensors(folder / "w.safetensors", {"norm.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, 8)
    code, _, errors = tool_rows.run(tools, ["mllm-interp", "a.mir", "--bind-op=MySwish=swish", "--input=iota",
                                            "--bind=seq=3", "-o", "x.npy", "--tolerance=abs=9"], folder)
    assert code == 0, errors.decode()
    for number in "01":
        (folder / f"{number}.npy").write_bytes((folder / "x.npy").read_bytes())


def words_of(row, value):
    words = [row.tool, *BASE[row.tool, row.command], f"--{row.name}={value}"]
    if row.tool not in ("mllm-interp", "mllm-pack"):
        return words
    if row.name in ("entry", "then"):
        words[words.index("a.mir")] = "b.mir"  # the op that is bound is in the body alone
    elif row.name != "bind-op":
        words.append("--bind-op=MySwish=swish")
    # What else the row needs to succeed.
    words += {"then": ["--entry=swish"], "feed": ["--then=1"], "expect": ["--tolerance=abs=9"]}.get(row.name, [])
    return words if row.name == "input" else [*words, "--input=iota" if row.name == "bind" else "--input=x.npy"]


def check(row, kind, form, tools, folder):
    right, wrong = NAMES[kind]
    code, _, errors = tool_rows.run(tools, words_of(row, form.format(right)), folder)
    # The tensor is not packed.
    if row.argument != "PATTERN=LAYOUT:NxK" and (code != 0 or f"--{row.name}:".encode() in errors):
        yield f"{row}={form.format(right)} fails: {errors.decode()}"
    (folder / "p.mirz").unlink(missing_ok=True)
    code, _, errors = tool_rows.run(tools, words_of(row, form.format(wrong)), folder)
    text = errors.decode()
    if code == 0:
        yield f"{row}={form.format(wrong)} succeeds"
    told = [f"--{row.name}: ", wrong, right, "; did you mean '" if kind != "pass" else "; it has '"]
    if code != 0 and not all(part in text for part in told):
        yield f"{row}={form.format(wrong)} does not name what is wrong: {text}"
    if (folder / "p.mirz").exists():
        yield f"{row}={form.format(wrong)} leaves a pack"


def main(tools):
    problems, checked = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, tools)
        for row in tool_rows.all_rows(tools):
            kinds = [kind for kind in row.refers_to if kind in NAMES]
            if row.argument is None or (row.argument in FACTS and row.refers_to == ["fact"]):
                continue
            if not kinds:
                if row.argument not in PLAIN and not (set(row.refers_to) & tool_rows.FILE_KINDS) and \
                        row.name not in ("check-prefix", "check-prefixes"):
                    problems.append(f"{row} takes {row.argument} and does not tell what that names")
                continue
            for kind in kinds:
                # The symbol of a feed is one of a cache.
                forms = FORMS.get(row.argument, {}).get(kind, ["ids=${}"] if row.name == "feed" else [])
                if not forms:
                    problems.append(f"{row}: no form of {row.argument} with a name of kind {kind} is known")
                for form in forms if row.name != "feed" or kind != "symbol" else []:
                    checked += 1
                    problems += check(row, kind, form, tools, folder)
    print(*problems, f"{checked} arguments, {len(problems)} problems", sep="\n")
    return 1 if problems or checked < 40 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
