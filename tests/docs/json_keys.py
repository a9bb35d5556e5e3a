#!/usr/bin/env python3
"""Compares the pages about JSON with what the tools write: the schema number, and the keys in both directions.

usage: json_keys.py TOOLS [ROOT]

Every key that is written is named on the page, and every key in the first column of a table of the page is written by
one of the commands here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

RUN = ("cd qwen2_tiny && mllm-interp model.mir -w model.safetensors -i ids=ids.npy -i positions=positions.npy "
       "--report=report.json > /dev/null 2>&1 {}; cat report.json")
DUMP = """@main () -> () {
    graph.CallGraphOp @net (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
    graph.SubGraphOp @net <CPU> [symbol:net] {
        (%0:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>) {
            linalg.CPU.SoftmaxOp <name="a"> (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>) loc("a":1)
            linalg.CPU.ClipOp(%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
            tensor.CPU.free (%1:tensor<[2], Float32, CPU>) -> ()
            cf.ReturnOp (%2:tensor<[2], Float32, CPU>) -> ()
        }
    }
}
"""
RETURN = "            cf.ReturnOp"
SQUARE = ("linalg.CPU.MatMulOp(%7:tensor<[2, 2], Float32, CPU>, %8:tensor<[2, 2], Float32, CPU>) -> "
          "(%9:tensor<[2, 2], Float32, CPU>)")  # two readings
EVERY_PART = DUMP.replace(RETURN, """            a.b () -> () [^next(%0:tensor<[2], Float32, CPU>[@w])]
        ^next(%3:tensor<[2], Float32, CPU>):
            a.c <extra> () -> ()
            addr:0x00000000000026 prog.jump model.__entry[offset:5]
""" + RETURN) + "@second [mir_version:1] () -> () {\n}\n"
MISTAKES = """@main [mir_version:1] (%x:tensor<[2, 4], Float32, CPU>) -> () {
    linalg.CPU.SoftmaxOp [axs:1] (%x) -> (%y:tensor<[2, 4], Float32, CPU>)
    linalg.CPU.SoftmaxOp [axis:1] (%y) -> (%x)
    cf.ReturnOp () -> ()
}
"""


@dataclass
class Page:
    name: str
    commands: list[str]  # each writes one object or, line by line, several
    data: frozenset[str] = frozenset()  # keys whose objects have names of the user as keys


PAGES = [
    Page("describe-json.md", ["mllm-interp qwen2_tiny/model.mir --describe --format=json --bind=S=4 --bind=past=0"],
         frozenset({"ops"})),
    Page("options-json.md", ["mllm-pack --help-as=json"]),
    Page("report-json.md", [
        RUN.format("--expect=expected_logits.npy --tolerance=abs=1e-6,top1=1 --probe=linalg.SoftmaxOp"),
        RUN.format("--then=1 --feed='ids=argmax(%logits)' --feed='positions=$past'"),
        RUN.format("--against=model.mir --against-weights=random:1"),
    ]),
    Page("generation-json.md", ["mllm-run chat_tiny --prompt=a --prompt=b -n 2 --json"]),
    Page("loss-report-json.md",
         ["sed 's/SoftmaxOp.*loc.*/&\\n" + SQUARE + "/' dump.mir > square.mir; mllm-opt -p upgrade square.mir "
          "--loss-report=loss.json --max-errors=1 2> /dev/null; cat loss.json"]),
    Page("ir-json.md", ["mllm-parse --no-verify --emit=ir --format=json every_part.mir"], frozenset({"attributes"})),
    Page("diff.md", ["sed 's/Softmax/Exp/; s/symbol:net/using_qnn:true/' dump.mir > after.mir; "
                     "mllm-diff --format=json dump.mir after.mir"]),
    Page("diagnostics-json.md", ["mllm-parse --diagnostics=json mistakes.mir 2>&1"]),
]


def keys_of(value: object, data: frozenset[str]) -> set[str]:
    """All keys of objects in a document."""
    if isinstance(value, list):
        return set().union(*(keys_of(each, data) for each in value))
    if not isinstance(value, dict):
        return set()
    below = [keys_of(each, data) for key, each in value.items() if not (key in data and isinstance(each, dict))]
    return set(value).union(*below)


def objects_of(text: str) -> list[dict]:
    """The objects of a text that follow each other."""
    objects, at = [], 0
    while at < len(text):
        one, end = json.JSONDecoder().raw_decode(text, at)
        objects.append(one)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return objects


def run(command: str, folder: Path, tools: Path) -> list[dict]:
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60)
    return objects_of(done.stdout)


def problems(page: Page, text: str, written: list[dict]) -> list[str]:
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    named = {word for code in re.findall(r"`([^`]+)`", prose) for word in re.findall(r"\w+", code)}
    rows = [line.split("|")[1] for line in prose.splitlines() if line.startswith("| `")]
    listed = {key for cell in rows for key in re.findall(r"`(\w+)`", cell)}
    keys = set().union(*(keys_of(each, page.data) for each in written))
    found = [f"{page.name}: key '{key}' is written and not described" for key in sorted(keys - named)]
    found += [f"{page.name}: key '{key}' is described and not written" for key in sorted(listed - keys)]
    stated = re.search(r"^\| `schema` \|(?: integer \|)? (\d+)|`schema` \((\d+)\)", prose, re.M)
    number = next(int(group) for group in stated.groups() if group) if stated else None
    found += [f"{page.name}: schema {each.get('schema')} is written, {number} is described"
              for each in written if each.get("schema") != number]
    return found


def main() -> int:
    tools = Path(sys.argv[1]).resolve()
    root = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).resolve().parents[2]
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "examples"
        shutil.copytree(root / "testdata/examples", folder)
        for name, text in {"dump": DUMP, "every_part": EVERY_PART, "mistakes": MISTAKES}.items():
            (folder / f"{name}.mir").write_text(text)
        for page in PAGES:
            written = [each for command in page.commands for each in run(command, folder, tools)]
            found += problems(page, (root / "docs" / page.name).read_text(encoding="utf-8"), written)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
