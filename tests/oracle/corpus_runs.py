"""Runs the small models of the optional corpus in every form: the graph-level dump, the lowered
program, and the program to which the upgraded dump is lowered. All give the same bits. The stages of
the AOT model run in simulated arithmetic; those of one kind of recipe give the same bits.

usage: corpus_runs.py TOOLS CORPUS

Where CORPUS is absent the test is skipped.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
GRANTED = ["--assume=rms_eps=1e-6", "--assume=layer_norm_eps=1e-6"]
RAW, PROGRAM = "00_raw.mir", "11_ProgramIntrinsicIdIndex.mir"
MODELS = [*(f"traced/foo/{name}" for name in ("foonet", "readme_mlp", "noname_module")),
          *(f"traced/models/{name}" for name in ("llama_tiny", "qwen2vl_tiny_llm", "qwen2vl_tiny_visual",
                                                 "qwen3_fa2_tiny", "qwen3_tiny_prefill")),
          "numerics/qwen_kvcacheop_tiny/prefill"]
# No recipe, one of values and weights.
AOT = [[f"traced/aot/aot_qwen2_mha_tiny_s8.{stage}.mir" for stage in stages] for stages in (
    ("00_raw", "01_MarkQnnGraph", "02_OpNaming", "03_MergeLLMHead"), ("04_LLMQuantRecipe",), ("05_PTQ",),
    ("06_SplitLLMGraph", "07_MarkTensorIO"))]


def inputs(tools: str, dump: Path) -> list[str]:
    """One value for each input, the same for every form: random by its name, numbers from 0 for integers."""
    done = subprocess.run([f"{tools}/mllm-interp", "--describe", "--format=json", dump, *GRANTED],
                          capture_output=True, text=True, check=True)
    return [f"--input=%{port['name']}={'iota' if '], Int' in port['type'] else 'random:' + port['name']}"
            for port in json.loads(done.stdout)["inputs"]]


def outputs(tools: str, dump: Path, given: list[str]) -> str:
    """The line of each output without its name, or what went wrong."""
    done = subprocess.run([f"{tools}/mllm-interp", dump, "--weights=random:1", *given],
                          capture_output=True, text=True)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"
    return "\n".join(line.split(": ", 1)[1] for line in done.stdout.splitlines() if ", hash " in line)


def main(tools: str, corpus: Path) -> int:
    if not corpus.is_dir():
        print(f"skipped: there is no {corpus}", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        return 0 if run(tools, corpus, Path(name)) else 1


def run(tools: str, corpus: Path, work: Path) -> bool:
    good = True
    for model in MODELS:
        program = corpus / f"{model}.{PROGRAM}"
        given = inputs(tools, program)
        found = {"graph": outputs(tools, corpus / f"{model}.{RAW}", [*given, *GRANTED]),
                 "lifted": outputs(tools, program, [*given, *GRANTED])}
        lowered = work / "lowered.mir"
        subprocess.run([f"{tools}/mllm-opt", "-p", "upgrade,lower-program", *GRANTED, corpus / f"{model}.{RAW}",
                        "-o", lowered], capture_output=True, check=True)
        found["lowered"] = outputs(tools, lowered, given)
        for form, values in found.items():
            if values == found["lifted"] and values and not values.startswith("exit"):
                continue
            good = False
            print(f"{model}: {form} differs\n{values}\nlifted:\n{found['lifted']}")
        print(f"{model}: {len(found['lifted'].splitlines())} outputs compared")
    for stages in AOT:
        # The order of the outputs differs from stage to stage.
        runs = [sorted(outputs(tools, corpus / stage, [*inputs(tools, corpus / stage), *GRANTED]).splitlines())
                for stage in stages]
        for stage, values in zip(stages, runs):
            if values != runs[0] or len(values) != 5:
                good = False
                print(f"{stage}: {values}, {stages[0]}: {runs[0]}")
        print(f"{', '.join(stages)}: {len(runs[0])} outputs compared")
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
