#!/usr/bin/env python3
"""Prints tables of what passes do to ops, memory and speed of models.

  bench/pass_table.py TOOLS [--models FOLDER ...] [--runs 5] [--tokens 32] [--corpus FOLDER] [--passes A B ...]

TOOLS is the folder of a release build. Models that run: the decoder of testdata/examples, two that are made,
and each FOLDER with model.mir and weights. Each pass is applied alone; `inline,...` are pipelines. A prompt of 32 tokens is
followed by single ones. The columns:

  ops       of the text after the pass
  prompt    bytes that the plan needs for the values of the prompt
  token     the same for one token
  tokens/s  the most of the runs, in which the passes take turns; on one thread, with --fusion=stated, so that only what the
            module states is fused

For the dumps of --corpus (by default ../shared/corpus, if it is there), which have no weights, ops and the peak of values
by --emit=cost are summed over those that `upgrade` takes.
"""
import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import decoders

ROOT = Path(__file__).resolve().parent.parent
MADE = decoders.qwen2(layers=8, hidden=256, heads=8, kv_heads=4, ffn=640, vocab=4000, positions=128)
PROMPT = 32
PIPELINES = ["inline,fusion-exact", "inline,fusion-all", "inline,separate-weights,decompose",
             "inline,separate-weights,decompose,fusion-all"]


def load_known_passes(tools):
    spec = importlib.util.spec_from_file_location("pass_effects", ROOT / "scripts/pass_effects.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return sorted(module.passes(tools))


def output_of(*arguments):
    """Standard output and error of a command; none if it fails."""
    done = subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode == 0 else None


class Model:
    """The texts of a model after pipelines, and their runs."""

    def __init__(self, name, folder, tools, scratch):
        self.name, self.tools = name, tools
        self.text = folder / "model.mir"
        self.weights = next(path for path in sorted(folder.iterdir())
                            if path.suffix in (".safetensors", ".gguf", ".mllm"))
        # Modules that mllm-import makes count positions themselves, and have any number of texts.
        counts = "%positions" not in self.text.read_text()
        self.options = ["--bind=B=1"] if counts else ["-i", "positions=iota", "--feed=positions=$past"]
        self.folder = Path(tempfile.mkdtemp(dir=scratch))

    def after(self, pipeline):
        """The file of the text after a pipeline, with the name of its output; none if a pass fails."""
        path = self.folder / ("%d.mir" % len(list(self.folder.iterdir())))
        if output_of(self.tools / "mllm-opt", "-p", pipeline, self.text, "-o", path) is None:
            return None
        described = output_of(self.tools / "mllm-interp", path, "--describe") or ""
        found = re.search(r"^outputs.*\n\s+(%\S+):", described, flags=re.M)
        return (path, found[1]) if found else None

    def run(self, path, output, tokens):
        """Bytes of the values of the prompt and of a token, tokens per second; none if it does not run."""
        text = output_of(self.tools / "mllm-interp", path, "-w", self.weights, "--kernels=fast", "--threads=1",
                         "--fusion=stated", "-i", "ids=random:1", *self.options, "--bind=S=%d" % PROMPT,
                         "--then=%d" % tokens, "--feed=ids=argmax(%s)" % output, "--profile", "--print-outputs=no")
        if text is None:
            return None
        places = [int(each) for each in re.findall(r"plan: values take (\d+) bytes", text)]
        taken = re.search(r"^runs 1 to \d+.*, ([\d.]+) ms in all", text, flags=re.M)
        return places[0], places[-1], tokens / float(taken[1]) * 1000


def ops_of(tools, path):
    stats = output_of(tools / "mllm-parse", "--emit=stats", path)
    return None if stats is None else sum(int(n) for n in re.findall(r"(\d+) operations", stats))


def table_of(model, passes, args):
    pipelines = ["strip-locations"] + passes + PIPELINES
    texts = {each: after for each in pipelines if (after := model.after(each))}
    found = {each: [] for each in texts}
    for _ in range(args.runs):
        for each, text in texts.items():
            result = model.run(*text, args.tokens)
            if result is not None:
                found[each].append(result)
    ops = {each: ops_of(args.tools, path) for each, (path, _) in texts.items()}
    first = pipelines[0]
    base = (ops[first], *found[first][0][:2])
    print("%s:\n\n| | ops | prompt | token | tokens/s |\n|---|---|---|---|---|" % model.name)
    for each in texts:
        if not found[each]:
            continue
        numbers = (ops[each], *found[each][0][:2])
        # What leaves ops and memory as they are leaves the speed.
        if each != first and numbers == base and each not in PIPELINES:
            continue
        cells = " | ".join("%d" % number for number in numbers)
        print("| %s | %s | %.0f |" % ("as it is" if each == first else "`%s`" % each, cells,
                                     max(speed for _, _, speed in found[each])))
    print(flush=True)


def cost_of(tools, path, pipeline):
    """Ops and the peak of values of a text after a pipeline."""
    done = subprocess.run([str(tools / "mllm-opt"), "-p", pipeline, "--emit=cost", "--format=json", str(path)], capture_output=True,
                          text=True, check=False)
    modules = json.loads(done.stdout)["costs"] if done.returncode == 0 else []
    rows = [row for module in modules for row in module["rows"]]
    totals = [row for row in rows if row["scope"] == "total" and isinstance(row["peak_bytes"], int)]
    return (sum(row["ops"] for row in totals), max(row["peak_bytes"] for row in totals)) if totals else None


def corpus_table(folder, passes, tools):
    sources = [path for path in sorted(folder.rglob("*.mir")) if cost_of(tools, path, "upgrade")]
    if not sources:
        return
    print("Dumps of the corpus that `upgrade` takes (%d), sums:\n\n| | ops | peak bytes |\n|---|---|---|" % len(sources))
    base = None
    for each in ["upgrade"] + ["upgrade," + name for name in passes + PIPELINES]:
        costs = [cost for path in sources if (cost := cost_of(tools, path, each))]
        if len(costs) != len(sources):
            continue
        sums = tuple(sum(column) for column in zip(*costs))
        base = base or sums
        if each == "upgrade" or sums != base:
            print("| `%s` | %d | %d |" % (each, *sums), flush=True)
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path)
    parser.add_argument("--models", type=Path, nargs="+", default=[])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--corpus", type=Path, default=ROOT.parent / "shared/corpus")
    parser.add_argument("--passes", nargs="+")
    args = parser.parse_args()
    passes = args.passes or load_known_passes(args.tools)
    with tempfile.TemporaryDirectory() as folder:
        models = [Model("The decoder of `testdata/examples`", ROOT / "testdata/examples/qwen2_tiny", args.tools, folder)]
        for linears in ("Float32", "Q4_0"):
            decoders.make(args.tools, Path(folder) / linears, MADE, linears)
            models.append(Model("A decoder of 8 layers of 256, " + linears, Path(folder) / linears, args.tools, folder))
        models += [Model("`%s`" % each.name, each, args.tools, folder) for each in args.models]
        for model in models:
            table_of(model, passes, args)
    if args.corpus.is_dir():
        corpus_table(args.corpus, passes, args.tools)


if __name__ == "__main__":
    main()
