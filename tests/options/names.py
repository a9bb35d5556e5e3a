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
LISTED = {"pass"}  # a name that exists elsewhere is no slip, so the message lists what the input has
# How arguments contain a name, by the argument's name on the help page.
FORMS = {
    "NAME": {"module": ["{}", "@{}"]},
    "@NAME": {"graph": ["{}", "@{}"]},
    "VALUE": {"value": ["{}", "%{}"]},
    "%VALUE": {"result": ["%{}"]},
    "GRAPH": {"graph": ["{}", "@{}"]},
    "[GRAPH*]N": {"graph": ["{}*0", "@{}*0", "@{}*1"]},
    "TYPE=GRAPH": {"op": ["{}=swish", "{}=@swish", "linalg.{}=swish"], "graph": ["MySwish={}", "MySwish=@{}"]},
    "S=N": {"symbol": ["{}=3", "${}=3"]},
    "[PORT=]SPEC": {"input": ["{}=x.npy", "%{}=x.npy"], "output": ["{}=x.npy", "%{}=x.npy", "{}={{run}}.npy"]},
    "IN=SOURCE": {"input": ["{}=%logits", "%{}=%logits"], "output": ["ids=%{}"]},
    "[PORT=]FILE": {"output": ["{}=out.npy", "%{}=out.npy"]},
    "PATTERNS": {"result": ["%{}", "@main%{}"]},
    "PATTERN": {"tensor": ["{}"], "graph": ["{}"]},
    "PATTERN=NAME": {"tensor": ["{}=other"]},
    "[PATTERN=]TYPE[/OTHER]": {"tensor": ["{}=f16"]},
    "PATTERN=LAYOUT:NxK": {"tensor": ["{}=qsi4c32p4x8:32x32"]},
    "A,B": {"pass": ["{}"]},
}
# Arguments that name nothing in the input.
PLAIN = {"FORM", "FORMAT", "N", "K", "X", "LEVEL", "WHAT", "WHEN", "WHICH", "ANSWER", "CODE", "ITEMS", "SEED", "SET", "MODE", "TYPE",
         "SIZE", "SECONDS", "A:B", "KEY=TEXT", "LEVEL", "PASS", "FILE", "CLAIM", "FOLDER", "PATH", "SPEC",
         "PIPELINE", "COMMAND", "MODULE", "DIALECT", "[TYPE:]ITEMS", "TEXT", "STRING", "T", "P", "R", "YYYY-MM-DD"}
P = "tensor<[$seq, 3], Float32, CPU>"
PLAN = f"""@main [mir_version:1] (%ids:{P}) -> (%logits:{P}) {{
    graph.SubGraphOp @init <notype> {{
        () -> () {{
            tensor.CPU.register () -> (%w:tensor<[3], Float32, CPU>[@norm.weight])[symbol:norm.weight]
        }}
    }}
    linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-6](%ids) -> (%logits:{P})
    cf.ReturnOp (%logits) -> ()
}}
"""
DUMP = """@main () -> () {
    linalg.CPU.ClipOp <name="net.clip">(%0:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>)
}
"""
# Facts name what a dump lost, so the upgrade refuses them. A fact, one with a slip, and a word of the repair.
FACTS = {
    "FACT": [("net.clip.min_val=0.0", "net.clop.min_val=0.0", "'net.clip'"), ("Clip.min_val=0.0", "Clop.min_val=0.0", "'Clip'"),
             ("Clip.min_val=0.0", "Clip.mni_val=0.0", "'min_val'"), ("comment=clip", "comment=clop", "d.mir")],
    "S@inputN:D": [("n@input0:0", "n@input1:0", "input 0"), ("n@input0:0", "n@input0:2", "last one is 1")],
}
FACT_BASE = {
    "mllm-opt": ["-p", "upgrade", "d.mir"],
    "mllm-interp": ["d.mir", "--input=iota"],
    "mllm-pack": ["create", "d.mir", "-o", "p.mirz", "--input=iota"],
}
# Selections of lines, of words of checks, and of passes that read an option: commands that select something and nothing.
SELECTIONS = [
    ("mllm-parse --print-dialect={}", "linalg", "linalgg", "no dialect is called 'linalgg'; did you mean 'linalg'?"),
    ("mllm-fmt --lines={} b.mir", "10:20", "11:20", "--lines: 'b.mir' has no line 11; it has 10 lines"),
    ("mllm-check --check-prefix={} c.test", "WORD", "WORK", "--check-prefix: no case has a line '// WORK: text'"),
    ("mllm-check --check-prefix=WORD,{} c.test", "OTHER", "OTTER", "no case has a line '// OTTER: text'"),
    ("mllm-check --input=b.mir --check-prefix={} c.test", "WORD", "WORK", "no line '// WORK: text'"),
    ("mllm-check --input=b.mir --check-prefix=WORD,{} c.test", "OTHER", "OTTER", "no line '// OTTER: text'"),
    ("mllm-opt --assume=rms_eps=1e-6 -p {} b.mir", "upgrade", "simplify", "--assume has no effect without the pass 'upgrade'"),
    ("mllm-opt --sidecar=facts.json -p {} b.mir", "upgrade", "cse", "--sidecar has no effect without the pass 'upgrade'"),
    ("mllm-opt --symbolic-dim=n@input0:0 -p {} b.mir", "upgrade", "cse", "--symbolic-dim has no effect without the pass"),
    ("mllm-opt --generation=2025-10 -p {} n.mir", "downgrade", "cse", "--generation has no effect without the pass 'downgrade'"),
]
BASE = {
    ("mllm-diff", ""): ["b.mir", "b.mir"],
    ("mllm-interp", ""): ["a.mir", "--kernels=fast"],
    ("mllm-opt", ""): ["-p", "simplify", "b.mir"],
    ("mllm-pack", "create"): ["create", "a.mir", "-o", "p.mirz"],
    ("mllm-parse", ""): ["b.mir"],
    ("mllm-weights", "convert"): ["convert", "w.safetensors", "-o", "out.safetensors"],
    ("mllm-weights", "plan"): ["plan", "plan.mir", "plan.safetensors", "--candidate=bf16"],
    ("mllm-weights", "match"): ["match", "empty.mir", "empty.safetensors"],
}


def write_safetensors(path, header, size):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(size))


def prepare(folder, tools):
    (folder / "a.mir").write_text(MODULE)
    (folder / "b.mir").write_text(MODULE.replace("MySwish", "SiLUOp").replace("[name=\"act\"]", ""))
    (folder / "n.mir").write_text((folder / "b.mir").read_text().replace("$seq", "2"))
    (folder / "d.mir").write_text(DUMP)
    (folder / "facts.json").write_text('{"schema": 1, "assume": ["rms_eps=1e-6"]}')
    (folder / "c.test").write_text("// RUN: echo @main; echo ReturnOp\n// WORD: @main\n// OTHER: ReturnOp\n")
    (folder / "empty.mir").write_text("@main [mir_version:1] () -> () {\n    cf.ReturnOp () -> ()\n}\n")
    (folder / "plan.mir").write_text(PLAN)
    write_safetensors(folder / "empty.safetensors", {}, 0)
    write_safetensors(folder / "plan.safetensors", {"norm.weight": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}, 12)
    write_safetensors(folder / "w.safetensors", {"norm.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, 8)
    code, _, errors = tool_rows.run(tools, ["mllm-interp", "a.mir", "--bind-op=MySwish=swish", "--input=iota",
                                            "--bind=seq=3", "-o", "x.npy", "--tolerance=abs=9"], folder)
    assert code == 0, errors.decode()
    for number in "01":
        (folder / f"{number}.npy").write_bytes((folder / "x.npy").read_bytes())


def words_of(row, value):
    words = [row.tool, *BASE[row.tool, row.command], f"--{row.name}={value}"]
    runs = row.tool in ("mllm-interp", "mllm-pack") or row.command == "plan"
    if not runs:
        return words + (["--emit=dot"] if (row.tool, row.name) == ("mllm-parse", "graph") else [])
    if row.name in ("entry", "then"):
        words[words.index("a.mir")] = "b.mir"  # the op that is bound is in the body alone
    elif row.name != "bind-op" and row.command != "plan":
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
    told = [f"--{row.name}: ", wrong, right, "; it has '" if kind in LISTED else "; did you mean '"]
    if code != 0 and not all(part in text for part in told):
        yield f"{row}={form.format(wrong)} does not name what is wrong: {text}"
    if (folder / "p.mirz").exists():
        yield f"{row}={form.format(wrong)} leaves a pack"


def check_fact(row, tools, folder):
    if row.tool == "mllm-diff":  # facts are for a dump beside a module; testdata/mllm-diff has such pairs
        return
    for right, wrong, repair in FACTS[row.argument]:
        base = [row.tool, *FACT_BASE[row.tool], "--assume=Clip.max_val=6.0"]
        needed = [] if "min_val" in right else ["--assume=Clip.min_val=0.0"]
        if row.name == "symbolic-dim" and row.tool != "mllm-opt":
            needed.append("--bind=n=2")
        code, _, errors = tool_rows.run(tools, [*base, *needed, f"--{row.name}={right}"], folder)
        if code != 0 and right != "comment=clip":
            yield f"{row}={right} fails: {errors.decode()}"
        (folder / "p.mirz").unlink(missing_ok=True)
        needed = ["--assume=Clip.min_val=0.0"]
        code, _, errors = tool_rows.run(tools, [*base, *needed, f"--{row.name}={wrong}"], folder)
        text = errors.decode()
        if code == 0:
            yield f"{row}={wrong} succeeds"
        elif not all(part in text for part in (f"--{row.name}", wrong.split("=")[0], repair)):
            yield f"{row}={wrong} does not name what is wrong: {text}"


def check_selections(tools, folder):
    for command, right, wrong, told in SELECTIONS:
        code, _, errors = tool_rows.run(tools, command.format(right).split(), folder)
        if code != 0:
            yield f"{command.format(right)} fails: {errors.decode()}"
        code, _, errors = tool_rows.run(tools, command.format(wrong).split(), folder)
        if code == 0 or told not in errors.decode():
            yield f"{command.format(wrong)} ends with {code} and does not report that it selects nothing: {errors.decode()}"


def main(tools):
    problems, checked = [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, tools)
        for row in tool_rows.all_rows(tools):
            kinds = [kind for kind in row.refers_to if kind in NAMES]
            if row.argument is None:
                continue
            if row.refers_to == ["fact"]:
                checked += len(FACTS[row.argument])
                problems += check_fact(row, tools, folder)
                continue
            if not kinds:
                if row.argument not in PLAIN and not (set(row.refers_to) & tool_rows.FILE_KINDS) and \
                        row.name != "check-prefix":
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
        checked += len(SELECTIONS)
        problems += check_selections(tools, folder)
    print(*problems, f"{checked} arguments, {len(problems)} problems", sep="\n")
    return 1 if problems or checked < 40 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
