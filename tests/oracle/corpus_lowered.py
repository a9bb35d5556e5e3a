"""Upgrades the programs of the optional corpus, lowers them again and explains every instruction that
differs: by the loss report of the upgrade, or by one of the ways in which docs/upgrade.md says that our
programs differ (frees and the addresses that follow; a storage for every value; constants in the order
of their first use).

usage: corpus_lowered.py TOOLS CORPUS

Where CORPUS is absent the test is skipped.
"""

import difflib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SKIPPED = 77
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]
VALUE = re.compile(r"%(\w+):(tensor<\[.*?\], \w+, \w+(?:, .*?)?>)")


class Launch:
    def __init__(self, operands: str, results: str, attributes: str):
        self.operands, self.results = VALUE.findall(operands), VALUE.findall(results)
        self.type = re.search(r"op_type:(\w*)", attributes).group(1)
        self.name = (re.search(r"symbol_name:([^,\]]*)", attributes) or [None, ""])[1]
        self.options = options_of(attributes)

    def key(self) -> tuple:
        return self.type, self.name, len(self.operands), len(self.results)


def options_of(attributes: str) -> dict | None:
    found = re.search(r"op_options:(null|\{)", attributes)
    if found is None or found.group(1) == "null":
        return None
    return json.JSONDecoder().raw_decode(attributes, found.start(1))[0]


class Program:
    """The instructions of a program's text, without frees, addresses and offsets."""

    def __init__(self, text: str):
        self.launches, self.binds, self.rest = [], [], []
        self.values, self.constants, self.kernels = {}, Counter(), {}
        for line in text.splitlines():
            line = re.sub(r"^\s*addr:0x[0-9a-f]+ ", "", line).strip()
            if found := re.fullmatch(r"prog\.kernel_launch ?\((.*?)\) -> \((.*?)\) ?\[(.*)\]", line):
                self.launches.append(Launch(*found.groups()))
            elif line.startswith("prog.bind"):
                self.binds.append(re.search(r"type:(\d)", line).group(1))
            elif found := re.match(r"prog\.value_symbol ?\(\) -> \((.*)\) ?\[symbol:(.*)\]$", line):
                constant = re.search(r"\[constant: ?(\[.*?\])", found.group(1))
                if constant:
                    self.constants[constant.group(1), VALUE.findall(found.group(1))[0][1]] += 1
                else:
                    self.values[found.group(2)] = VALUE.findall(found.group(1))[0][1]
            elif line.startswith("prog.kernel_symbol"):
                self.kernels[re.search(r"symbol:([^,\]]*)", line).group(1)] = options_of(line)
            elif line.startswith(("prog.jump", "prog.label", "prog.ret", "prog.exit", "prog.mode_config")):
                self.rest.append(re.sub(r" ?\[offset:-?\d+\]", "", line))
        self.versions = Counter(name for launch in self.launches for name, _ in launch.results)


class Comparison:
    def __init__(self, dump: Program, ours: Program, losses: list[dict]):
        self.dump, self.ours, self.problems = dump, ours, []
        self.facts = Counter((loss["op"].split(" ")[0], loss["fact"]) for loss in losses)
        self.used = {(loss["fact"], loss["used"]) for loss in losses}

    def has(self, fact: str, op: str = "") -> bool:
        return any(name == fact and (not op or where == op) for where, name in self.facts)

    def options(self, where: str, op: str, before: dict | None, after: dict | None) -> None:
        for key, value in (after or {}).items():
            stated = (before or {}).get(key)
            same = stated == value or key == "to_shape" and stated is not None and all(
                a in (b, -1) for a, b in zip(stated, value))
            if stated is None:
                # What a part of a storage holds is stored with the bounds of the slice.
                same = self.has(key, f"linalg.{op}Op") or op == "Copy" and self.has("stored into")
            if not same:
                self.problems.append(f"{where}: {key} {stated} -> {value}")
        for key in set(before or {}) - set(after or {}):
            self.problems.append(f"{where}: {key} is gone")

    def is_shared(self, name: str) -> bool:
        """Whether a mention of a storage of the dump has several meanings."""
        return self.dump.versions[name] > 1 or any(
            name in {each for each, _ in launch.operands} for launch in self.dump.launches
            if name in {each for each, _ in launch.results})

    def launch(self, before: Launch, after: Launch, names: dict[str, str]) -> None:
        where = f"{before.type} {before.name}"
        self.options(where, before.type, before.options, after.options)
        for i, ((name, old), (other, new)) in enumerate(zip(before.operands, after.operands)):
            if old != new and not self.is_shared(name) and not self.has(f"view of operand {i}"):
                self.problems.append(f"{where}: operand {i} {old} -> {new}")
            if names.setdefault(name, other) != other and not self.is_shared(name):
                self.problems.append(f"{where}: operand {i} %{name} is %{names[name]} and %{other}")
        for i, ((name, old), (other, new)) in enumerate(zip(before.results, after.results)):
            names[name] = other
            if old != new and (f"type of result {i}", new) not in self.used:
                self.problems.append(f"{where}: result {i} {old} -> {new}")

    def run(self) -> list[str]:
        before, after = self.dump.launches, self.ours.launches
        names: dict[str, str] = {}
        gone, new = [], []
        for kind, i, j, k, end in difflib.SequenceMatcher(
                None, [each.key() for each in before], [each.key() for each in after], False).get_opcodes():
            if kind == "equal":
                for old, other in zip(before[i:j], after[k:end]):
                    self.launch(old, other, names)
                continue
            gone += before[i:j]
            new += after[k:end]
        self.moved(gone, new)
        self.tables()
        return self.problems

    def moved(self, gone: list[Launch], new: list[Launch]) -> None:
        """A store into a part is a Copy with the bounds of the slice after the op that computes it, which then has no
        destination among its operands."""
        stores = self.has("stored into")
        moves = ("Copy", "Slice", "View")
        views = any(fact.startswith("view of") for _, fact in self.facts)
        for kind, some, others in (("gone", gone, new), ("new", new, gone)):
            for each in some:
                again = any((other.type, other.name) == (each.type, each.name) for other in others)
                explained = stores and (each.type in moves or again) or (
                    kind == "gone" and self.has("left out")) or (kind == "new" and each.type == "View" and views)
                if not explained:
                    self.problems.append(f"{each.type} {each.name} is {kind}")

    def tables(self) -> None:
        if self.dump.rest != self.ours.rest:
            self.problems.append("jumps and labels differ")
        inputs, outputs = (self.ours.binds.count(each) - self.dump.binds.count(each) for each in "01")
        if inputs != self.facts["builtin.ModuleOp", "input"] or outputs > inputs:
            self.problems.append(f"{inputs} more inputs, {outputs} more outputs")
        for name, type_ in self.ours.values.items():
            known = self.dump.values.get(name)
            suffix = name[name.rfind("."):]
            if known != type_ and (known is not None or not any(
                    fact in (f"parameter {suffix}", f"parameter @{name}") for _, fact in self.facts)):
                self.problems.append(f"parameter {name} {known} -> {type_}")
        if set(self.dump.values) - set(self.ours.values):
            self.problems.append("parameters are gone")
        if self.dump.constants != self.ours.constants:
            self.problems.append(f"constants {self.dump.constants} -> {self.ours.constants}")
        for name, options in self.ours.kernels.items():
            owner = next((each.type for each in self.ours.launches if each.name == name), "")
            self.options(f"kernel {name}", owner, self.dump.kernels.get(name), options)


def main(tools: str, corpus: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    good, lowered = True, 0
    with tempfile.TemporaryDirectory() as name:
        program, report = Path(name) / "lowered.mir", Path(name) / "loss.json"
        for dump in sorted([*corpus.glob("traced/**/*.11_*.mir"), *corpus.glob("numerics/**/*.11_*.mir")]):
            done = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade,lower-program", *GRANTED, dump, "-o", program,
                                   f"--loss-report={report}"], capture_output=True)
            if done.returncode != 0:
                continue
            lowered += 1
            problems = Comparison(Program(dump.read_text()), Program(program.read_text()),
                                  json.loads(report.read_text())["entries"]).run()
            good = good and not problems
            for problem in problems:
                print(f"{dump.relative_to(corpus)}: {problem}")
    print(f"{lowered} programs are lowered again")
    return 0 if good and lowered >= 60 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
