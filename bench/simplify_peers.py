#!/usr/bin/env python3
"""Times mllm-opt and mlir-opt on one program, side by side: simplification, merging of equal ops and removal of dead ones.

  bench/simplify_peers.py TOOLS [--ops 200000] [--runs 9] [--generator FILE] [--mlir-opt COMMAND]

TOOLS is the folder of a release build with mllm-opt. The program is the decoder of FILE (by default
../shared/perf/gen_mlir_module.py), which writes it as MLIR; here it becomes a portable module with the same graphs and
ops. The tools run in turn, on one thread. Of the runs, the least times are shown, which other work on the machine disturbs
least: the processor time of the whole process, which verifies the module before and after each pass that changed it, and
the time of the passes as the tools report it. mlir-opt counts the verification after a pass as time of the pass, mllm-opt
does not: the time of passes is that of further runs, in which neither tool verifies between passes. --detail shows the
least time of each pass.
"""
import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PASSES = "canonicalize,cse,eliminate-dead-ops,eliminate-unused-graphs"
PEER_PASSES = ["--canonicalize", "--cse", "--symbol-dce"]
PEER_NAMES = {"Canonicalizer", "CSE", "SymbolDCE"}


def load(path):
    spec = importlib.util.spec_from_file_location("generator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def typed(value):
    return "%%%d:tensor<[%s], Float32, CPU>" % (value[0], ", ".join(map(str, value[1])))


def listed(values):
    return ", ".join(map(typed, values))


def options(kind, operands, results, name):
    """Attributes that the portable form states, in the order of the rows."""
    shape = results[0][1]
    if kind == "RMSNorm":
        return "epsilon:1e-6"
    if kind == "Linear":
        return "in_channels:%d, out_channels:%d, bias:false" % (operands[0][1][-1], shape[-1])
    if kind == "View":
        return "to_shape:[%s]" % ", ".join(map(str, shape))
    if kind == "Transpose":
        return "dim0:1, dim1:2"
    if kind == "MatMul":
        return "transpose_b:%s" % ("true" if operands[0][1][-1] != operands[1][1][-2] else "false")
    if kind == "Softmax":
        return "axis:-1"
    if kind == "KVCache":
        layer = int(re.search(r"\d+", name).group())
        return "cache:@cache.%d, q_head:12, kv_head:%d, head_dim:%d, layer_idx:%d, past:0, capacity:%d" % (
            layer, shape[1], shape[3], layer, shape[2])
    return ""


def registers(graphs):
    """The declarations of all weights."""
    number = 0
    for graph in graphs:
        for kind, operands, results, name in graph[3]:
            width = operands[0][1][-1]
            shape = {"RMSNorm": "%d" % width, "Linear": "%d, %d" % (results[0][1][-1], width) if results else ""}.get(kind)
            if shape is None:
                continue
            yield ("            tensor.CPU.register () -> (%%w%d:tensor<[%s], Float32, CPU>[@%s.weight])[symbol:%s.weight]" % (
                number, shape, name, name))
            number += 1


def portable(program, write):
    """Writes the portable module. Returns the number of its ops, without the declarations of weights,
    which the MLIR text does not have."""
    graphs = list(program)
    layers = [graph for graph in graphs if re.fullmatch(r"model\.layers\.\d+", graph[0])]
    inputs = layers[0][1]
    x, tables = inputs[0], inputs[1:]
    ops = 0
    lines = ["    graph.SubGraphOp @init <notype> {", "        () -> () {", *registers(graphs), "        }\n    }"]
    for symbol, operands, results, body in graphs:
        # The scale of attention is no input of the calls.
        free = [value for value in operands if value[1] == (1,)]
        lines.append("    graph.SubGraphOp @%s <CPU> {" % symbol)
        lines.append("        (%s) -> (%s) {" % (listed([o for o in operands if o not in free]), listed(results)))
        ops += 1
        for kind, of, to, name in body:
            ops += 1
            args = ", ".join(typed(v) + ("[constant:[0.088]]" if v in free else "") for v in of)
            if kind == "call":
                lines.append("            graph.CallGraphOp @%s (%s) -> (%s)" % (name, args, listed(to)))
            elif kind == "return":
                lines.append("            cf.ReturnOp (%s) -> ()" % args)
            else:
                attributes = options(kind, of, to, name)
                lines.append('            linalg.CPU.%sOp <name="%s"> %s(%s) -> (%s)' % (
                    kind, name, "[%s] " % attributes if attributes else "", args, listed(to)))
        lines.append("        }\n    }")
    last = 1 + max(value[0] for graph in graphs for op in graph[3] for value in op[2] + op[1])
    values = [x] + [(last + i, x[1]) for i in range(len(layers))]
    write("@main [mir_version:1] (%s) -> (%s) {\n" % (listed(inputs), typed(values[-1])))
    write("\n".join(lines) + "\n")
    for i, layer in enumerate(layers):
        write("    graph.CallGraphOp @%s (%s) -> (%s)\n" % (layer[0], listed([values[i]] + tables), typed(values[i + 1])))
        ops += 1
    write("    cf.ReturnOp (%s) -> ()\n}\n" % typed(values[-1]))
    return ops + 1


def run(command):
    """Processor seconds, and standard error."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        errors.seek(0)
        text = errors.read()
    if status != 0:
        sys.exit("%s\n%s" % (" ".join(command), text[-2000:]))
    return usage.ru_utime + usage.ru_stime, text


def ours(tool, source):
    command = [tool, "--threads=1", "-p", PASSES, source, "-o", "/dev/null"]
    seconds, _ = run(command)
    _, report = run([*command, "--verify-each=no", "--timing", "--format=json"])
    lines = [json.loads(line) for line in report.splitlines() if line.startswith("{")]
    return seconds, [(each["pass"], each["seconds"]) for line in lines for each in line["timing"]]


def theirs(tool, source):
    command = [tool, "--allow-unregistered-dialect", "--mlir-disable-threading", *PEER_PASSES, source, "-o", "/dev/null"]
    seconds, _ = run(command)
    _, report = run([*command, "--verify-each=0", "--mlir-timing", "--mlir-timing-display=list"])
    found = re.findall(r"^\s*([\d.]+) \(\s*[\d.]+%\)\s+(\w+)$", report, re.MULTILINE)
    passes = sorted((name, float(taken)) for taken, name in found if name in PEER_NAMES)
    if {name for name, _ in passes} != PEER_NAMES:
        sys.exit("unexpected timing of %s:\n%s" % (tool, report))
    return seconds, passes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--ops", type=int, nargs="+", default=[200000])
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--generator", type=Path, default=ROOT.parent / "shared/perf/gen_mlir_module.py")
    parser.add_argument("--mlir-opt", default="mlir-opt-19")
    parser.add_argument("--detail", action="store_true", help="print the time of each pass")
    args = parser.parse_args()
    generator = load(args.generator)
    print("| | ops | whole process, s | passes, s | ops/s of the passes | slower than mllm-opt: whole | passes |")
    print("|---|---|---|---|---|---|---|")
    for ops in args.ops:
        with tempfile.TemporaryDirectory() as folder:
            compare(args, generator, ops, Path(folder))


def compare(args, generator, ops, folder):
    sources = {}
    layers = max(1, round(ops / 37))
    with open(folder / "ours.mir", "w") as file:
        sources["mllm-opt"] = (file.name, portable(generator.program(layers), file.write))
    with open(folder / "generic.mlir", "w") as file:
        sources["mlir-opt, generic ops"] = (file.name, generator.emit_mlir(layers, file.write))
    with open(folder / "tosa.mlir", "w") as file:
        sources["mlir-opt, tosa"] = (file.name, generator.emit_tosa(max(1, round(ops / 50)), file.write))
    runs = {name: [] for name in sources}
    for _ in range(args.runs):
        for name, (source, _) in sources.items():
            is_ours = name == "mllm-opt"
            runs[name].append(ours(str(args.tools / "mllm-opt"), source) if is_ours else theirs(args.mlir_opt, source))
    whole = {name: min(seconds for seconds, _ in each) for name, each in runs.items()}
    passes = {name: min(sum(taken for _, taken in report) for _, report in each) for name, each in runs.items()}
    # For each op: the programs differ a little in their numbers of ops.
    own_whole, own_passes = (each["mllm-opt"] / sources["mllm-opt"][1] for each in (whole, passes))
    for name, (_, count) in sources.items():
        print("| %s | %d | %.3f | %.3f | %.0f | %.1f | %.1f |" % (
            name, count, whole[name], passes[name], count / passes[name], whole[name] / count / own_whole,
            passes[name] / count / own_passes))
        if args.detail:
            names = [each for each, _ in runs[name][0][1]]
            least = [min(report[i][1] for _, report in runs[name]) for i in range(len(names))]
            print("  " + ", ".join("%s %.4f" % each for each in zip(names, least)), file=sys.stderr)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
