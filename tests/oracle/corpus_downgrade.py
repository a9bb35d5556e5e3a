"""Upgrades the graph-level dumps of the optional corpus, downgrades them again to the version of
upstream that printed them, and compares the result with the dump, op by op: what differs must be in
the loss report of the upgrade. Programs are lowered again; those without views, slices and lost
options have their text again.

usage: corpus_downgrade.py TOOLS CORPUS

Where CORPUS is absent the test is skipped.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
# The others have views or slices, options that upstream serialises as null, or complex weights.
SAME_PROGRAMS = 37
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]


def generation(text: str) -> str:
    if '<name="' in text or re.search(r"SubGraphOp @\S+ <\w+> \[", text):
        return "2025-12"
    return "2025-10" if '[name="' in text else "2025-07"


def reported(difference: dict, losses: list[dict]) -> bool:
    """Whether the upgrade said that it changed this."""
    op = difference["op"].split(" ")[0]
    facts = [entry for entry in losses if entry["op"].split(" ")[0] == op or op.startswith("graph.")]
    field = difference["field"] or ""
    if in_place(difference, losses):
        return True
    if difference["kind"] == "removed":  # comments, frees and the like
        return op in ("linalg.register", "tensor.free", "dbg.CommentOp") or op.startswith("linalg.register")
    if op == "tensor.register" and any(entry["fact"].startswith("parameter @") for entry in losses):
        return difference["kind"] == "added"
    if difference["kind"] == "added":
        fact = {"linalg.ViewOp": "view of ", "linalg.CastTypeOp": "cast of "}.get(op)
        return fact is not None and any(entry["fact"].startswith(fact) for entry in losses)
    if field.startswith("type of operand") and any(entry["fact"] == field.replace("type", "cast") for entry in facts):
        return True
    if "quant_recipe" in field and any(entry["fact"].startswith("recipe of ") for entry in losses):
        return True
    # What nothing defines is handed in from the callers, as further operands of calls.
    handed_in = any(entry["op"].startswith("graph.SubGraphOp") and entry["fact"] == "input" for entry in losses)
    if handed_in and ((op == "graph.CallGraphOp" and field == "operands")
                      or str(difference["before"]).startswith("a value that nothing defines")):
        return True
    if op.startswith("graph.") and field.startswith("type of result"):
        return any(entry["fact"].startswith("type of result") for entry in losses)
    key = re.sub(r"attribute '(.*)'", r"\1", field)
    return any(key in entry["fact"] or entry["fact"] in key for entry in facts)


def in_place(difference: dict, losses: list[dict]) -> bool:
    """What upstream writes in place is a new value in portable form, which keeps its own storage; a part of a storage
    is written by a Copy with a result, and a storage that a graph changes is one more result of it."""
    op, field = difference["op"].split(" ")[0], difference["field"] or ""
    facts = [entry["fact"] for entry in losses]
    if any(fact.startswith("storage of result") for fact in facts) and field.startswith("operand "):
        return True
    outputs = any(entry["fact"] == "output" and "a storage that it changes" in entry["used"] for entry in losses)
    passed_on = op.startswith(("graph.", "cf."))
    return "stored into" in facts and (
        op in ("linalg.CopyOp", "linalg.SliceOp", "linalg.ViewOp") or passed_on and (outputs or field == "operand 0")
        or field.startswith(("operand", "type of operand", "type of result")))


def differences_of(tools: str, dump: Path, other: Path) -> list[dict]:
    done = subprocess.run([f"{tools}/mllm-diff", "--format=json", dump, other], capture_output=True, text=True)
    return json.loads(done.stdout)["differences"] if done.stdout else []


def same_programs(tools: str, corpus: Path, work: Path) -> tuple[int, int]:
    """How many programs are lowered again, and how many of them have their text again."""
    lowered, same = 0, 0
    for dump in sorted(corpus.glob("traced/**/*.11_*.mir")):
        done = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade,lower-program", *GRANTED, dump,
                               "-o", work / "lowered.mir"], capture_output=True)
        lowered += done.returncode == 0
        # Upstream gives fragments a device that is none, `DeviceTypes_Start`.
        same += done.returncode == 0 and all(
            difference["op"] == "prog.fragment" and difference["field"] == "angle 0"
            for difference in differences_of(tools, dump, work / "lowered.mir"))
    return lowered, same


def main(tools: str, corpus: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    same, known, good = 0, 0, True
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for dump in sorted([*corpus.glob("traced/**/*.00_raw.mir"), corpus / "TraceFooNetTest.mir"]):
            up = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade", *GRANTED, dump, "-o", work / "up.mir",
                                 f"--loss-report={work / 'loss.json'}"], capture_output=True)
            if up.returncode != 0:
                continue
            subprocess.run([f"{tools}/mllm-opt", "-p", "downgrade", f"--generation={generation(dump.read_text())}",
                            work / "up.mir", "-o", work / "down.mir", "--no-verify",
                            f"--loss-report={work / 'drop.json'}"], check=True)
            losses = [entry for report in ("loss.json", "drop.json")
                      for entry in json.loads((work / report).read_text())["entries"]]
            differences = differences_of(tools, dump, work / "down.mir")
            same += not differences
            known += bool(differences)
            for difference in differences:
                if reported(difference, losses):
                    continue
                good = False
                print(f"{dump.relative_to(corpus)}: {difference}")
        lowered, same_lowered = same_programs(tools, corpus, work)
    print(f"{same} dumps have their text again, {known} but for what the report lists; "
          f"{same_lowered} of {lowered} programs have theirs")
    return 0 if good and same > 0 and same_lowered >= SAME_PROGRAMS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
