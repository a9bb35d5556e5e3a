"""Upgrades every dump of the optional corpus and holds what each lost to a committed account.

usage: corpus_losses.py TOOLS CORPUS ACCOUNT

ACCOUNT has a block for each set of dumps that lost the same: their names, a hash of the report (every
fact of every op with the value used, without places and names of values), and the facts by kind of op with their values
(up to four different ones are listed). What a dump does not state is granted by GRANTED and LOST.
A dump that is refused has what is wrong with it instead. Modules of traced/ops and traced/synth are run with
random weights and inputs; `does not run` says why one does not. Where that is an op of a plug-in it runs once
more with a graph in its place. Each upgraded text comes back byte by byte. UPDATE_GOLDEN=1 rewrites the file, as for
golden cases; then the test says it was skipped. Where CORPUS is absent the test is skipped.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

SKIPPED = 77
GRANTED = ["rms_eps=1e-6", "layer_norm_eps=1e-6"]
DTYPES = ("Float32 Float16 Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Bool UInt8 ComplexFP32 ComplexFP64 "
          "Int16PerTensor UInt16PerTensor UInt16PerTensor Int8PerTensor UInt8PerTensor").split()
# What a person has to say of these dumps, for nothing in them does. Types of inputs that no instruction
# of a program mentions are those of the graph-level dump.
LOST = {
    "op_avgpool1d.11": ["%105=tensor<[1, 8, 32], Float32, CPU>", "%106=tensor<[1, 8, 16], Float32, CPU>"],
    "op_dtype_inputs_a.11": [f"%{144 + i}=tensor<[2, 256], {dtype}, CPU>" for i, dtype in enumerate(DTYPES)],
    "op_scatter2shards.11": ["%46=tensor<[2, 16], Float32, CPU>", "%47=tensor<[2], Int64, CPU>"],
    "op_x2x_cpu.11": ["%68=tensor<[2, 8], Float32, CPU>"],
    # Of which Linear makes real numbers: the weights were others than these.
    "op_linear_w_ComplexFloat32": ["%131=tensor<[64, 256], Float32, CPU>"],
    "op_index_vec": ["Index.indices=[[0, 2, 3], {}]"],
    "op_outer_tensor": ["Fill.type=ones"],
    # What upstream's printer leaves open in texts made to show it.
    "synth_attrs": ['text:s=a string, with: [brackets] "quotes" and (parens)', 'text:k="line1\\nline2"',
                    "%0.f=none", "alloc.0.k=none", "%0=tensor<[2, 3, 0], Float32, CPU>"],
    "synth_custom_op": ["MyCustomOp.meaning=plugin"],
    "synth_dims": ["main.return=0"],
    "synth_nested": ["comment=not // prefixed comment", "inner.n=none"],
    "synth_quant": [f"%{n}.quant_recipe=none" for n in (3, 6, 7)],  # blocks larger than the tensors
}
# What a plug-in computes is in no dump: these runs bind its op to a graph that is put into the upgraded text.
PLUGINS = {
    "synth_custom_op": ("MyCustomOp", """
    graph.SubGraphOp @doubled <CPU> {
        (%100:tensor<[1, 4], Float32, CPU>) -> (%101:tensor<[1, 4], Float32, CPU>) {
            linalg.CPU.AddOp (%100:tensor<[1, 4], Float32, CPU>, %100:tensor<[1, 4], Float32, CPU>) -> (%101:tensor<[1, 4], Float32, CPU>)
            cf.ReturnOp (%101:tensor<[1, 4], Float32, CPU>) -> ()
        }
    }"""),
}
MOST_VALUES = 4
KNOWN_OP = re.compile(r"error\[(MIR\d+)\]: (.*)")


def facts(entries: list[dict], source: str) -> list[str]:
    """`op fact xN = value xN, value` of the entries from one source, sorted."""
    values = defaultdict(Counter)
    for entry in entries:
        if entry["source"] == source:
            values[entry["op"].split(" ")[0], entry["fact"]][entry["used"]] += 1
    lines = []
    for (op, fact), used in sorted(values.items()):
        total = sum(used.values())
        text = f"{op} {fact}" + (f" x{total}" if total > 1 else "")
        shown = [value + (f" x{n}" if 1 < n < total else "") for value, n in sorted(used.items())]
        lines.append(f"{text} = " + ("; ".join(shown) if len(shown) <= MOST_VALUES else f"{len(shown)} values"))
    return lines


def account(tools: str, dump: Path, work: Path) -> list[str]:
    report = work / "loss.json"
    report.unlink(missing_ok=True)
    granted = GRANTED + next((lost for name, lost in LOST.items() if dump.name.startswith(name)), [])
    done = subprocess.run(
        [f"{tools}/mllm-opt", "-p", "upgrade", *(f"--assume={fact}" for fact in granted), dump,
         "-o", work / "up.mir", f"--loss-report={report}", "--max-errors=0"], capture_output=True, text=True)
    if done.returncode != 0:
        found = sorted(set(f"  error {code}: {text}" for code, text in KNOWN_OP.findall(done.stderr)))
        return ["refused", *found]
    entries = json.loads(report.read_text())["entries"]
    for entry in entries:  # ports of one type are alike, whatever their names
        entry["used"] = re.sub(r"%[^\s:]*:(?=tensor<)", "", entry["used"])
    whole = "\n".join(f"{e['source']} {e['op']} {e['fact']} {e['used']}" for e in entries)
    lines = [f"report {hashlib.sha256(whole.encode()).hexdigest()[:16]}"]
    for source in ("derived", "assumed", "dropped"):
        lines += [f"  {source} {line}" for line in facts(entries, source)]
    again = subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade", work / "up.mir"],
                           capture_output=True, text=True, check=True)
    if again.stdout != (work / "up.mir").read_text():
        lines.append("  upgrading twice changes it")
    back = subprocess.run([f"{tools}/mllm-parse", "--roundtrip", work / "up.mir"], capture_output=True)
    if back.returncode != 0:
        lines.append("  does not come back")
    if dump.parent.name in ("ops", "synth") and (why := why_not_run(tools, work / "up.mir")):
        lines.append(f"  does not run: {why}")
        if dump.stem in PLUGINS:
            op, graph = PLUGINS[dump.stem]
            head, rest = (work / "up.mir").read_text().split("\n", 1)
            (work / "up.mir").write_text(f"{head}{graph}\n{rest}")
            why = why_not_run(tools, work / "up.mir", f"--bind-op={op}=@doubled")
            lines.append(f"  runs with {op} bound to a graph" if not why else f"  bound it does not run: {why}")
    return lines


def why_not_run(tools: str, module: Path, *options: str) -> str:
    """Empty where the module runs: reals random, complex numbers and extents small, integers from 0 on."""
    done = subprocess.run([f"{tools}/mllm-interp", "--describe", "--format=json", module, *options],
                          capture_output=True, text=True)
    if done.returncode == 0:
        given = []
        for port in json.loads(done.stdout)["inputs"]:
            extents, dtype = re.fullmatch(r"tensor<\[(.*)\], (\w+), .*", port["type"]).groups()
            plain = dtype.startswith("Complex") or "8" in dtype or dtype == "Bool" or not extents
            # Zeros of 8 GiB take no memory as long as nothing writes them.
            value = "zeros" if plain or extents == "2147483647" else "iota" if "Int" in dtype else "random:1"
            given.append(f"--input=%{port['name']}=" + ("[[1, 2, 3, 4]]" if "?" in extents else value))
        done = subprocess.run([f"{tools}/mllm-interp", module, "--weights=random:1", "--print-outputs=no",
                               *options, *given],
                              capture_output=True, text=True)
    return "; ".join(sorted(set(text for _, text in KNOWN_OP.findall(done.stderr))))


def main(tools: str, corpus: Path, expected: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    alike = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        for dump in sorted(corpus.rglob("*.mir")):
            alike["\n".join(account(tools, dump, Path(name)))].append(str(dump.relative_to(corpus)))
    blocks = {" ".join(dumps): lines for lines, dumps in alike.items()}
    if os.environ.get("UPDATE_GOLDEN") == "1" and not os.environ.get("CI"):
        expected.write_text("\n\n".join("\n".join([*dumps, lines]) for lines, dumps in
                                        ((lines, alike[lines]) for lines in alike)) + "\n")
        return SKIPPED
    known = {}
    for block in expected.read_text().rstrip("\n").split("\n\n"):
        dumps = [line for line in block.splitlines() if line.endswith(".mir")]
        known |= {dump: "\n".join(block.splitlines()[len(dumps):]) for dump in dumps}
    good = True
    for dumps, lines in blocks.items():
        for dump in dumps.split(" "):
            if known.get(dump, lines) != lines:
                good = False
                print(f"{dump}\nexpected\n{known[dump]}\nfound\n{lines}")
    refused = sum(len(dumps) for lines, dumps in alike.items() if lines.startswith("refused"))
    print(f"{sum(map(len, alike.values()))} dumps, {refused} refused")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
