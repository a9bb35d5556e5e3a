#!/usr/bin/env python3
"""Holds mllm-parse to a program that upstream wrote, as text and as JSON.

The JSON made from upstream's text equals upstream's JSON but for the facts about its compilation and
the devices of all but kernel launches, which upstream leaves to chance. The text made from upstream's JSON equals
upstream's text but for the types of values, which the JSON does not hold.

usage: program_json.py TOOLS FOLDER
"""

import json
import re
import subprocess
import sys
from pathlib import Path

FACTS = {"compilation_time", "platform", "cpu_architecture", "cxx_compiler", "cxx_compiler_version", "cpp_standard"}


def parse(tools, path, form):
    """Standard output, whatever verification says."""
    return subprocess.run([f"{tools}/mllm-parse", str(path), f"--emit={form}", "--no-verify"], check=True,
                          capture_output=True, text=True).stdout


def comparable(document):
    document = {key: value for key, value in document.items() if key not in FACTS}
    for fragment in document["code"]["module"]:
        for instruction in fragment["instructions"]:
            if instruction["op"] != "kernel_launch":
                instruction.pop("device", None)
    return document


def without_types(text):
    """Values as their numbers; parameters and constants without what mentions of them repeat."""
    text = re.sub(r":(tensor<\[[^\]]*\], \w+, \w+>|!prog\.slot)", "", text)
    text = re.sub(r"(%\d+)(\[@[^\]]*\])?(\[symbol:[^\]]*\])?(\[constant:\[[^\]]*\]\])?", r"\1", text)
    return [line.rstrip() for line in text.splitlines()]


def main():
    tools, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    text, program = folder / "prefill.11_ProgramIntrinsicIdIndex.mir", folder / "prefill.bytecode.json"
    if not program.exists():
        print(f"skipped: there is no {program}")
        sys.exit(77)
    upstream = json.loads(program.read_text())
    for source in (text, program):
        written = json.loads(parse(tools, source, "program"))
        if comparable(written) != comparable(upstream):
            sys.exit(f"the JSON made from {source.name} differs from upstream's")
    if without_types(parse(tools, program, "ir")) != without_types(text.read_text().strip()):
        sys.exit("the text made from upstream's JSON differs from upstream's text")
    print("text and JSON agree with upstream's")


if __name__ == "__main__":
    main()
