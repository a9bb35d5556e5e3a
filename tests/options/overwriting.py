#!/usr/bin/env python3
"""Every option that writes refuses a file that the same command reads.

usage: overwriting.py TOOLS

The options and what they write come from the rows of the tools. Each written file is in turn every file that the
command reads, as an operand and by an option; each written folder holds the file that is read.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import tool_rows

MODULE = """@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.NegOp (%x) -> (%y)
    cf.ReturnOp (%y) -> ()
}
"""
# By tool and command: words without options that write, and the files among them.
COMMANDS = {
    ("mllm-check", ""): (["a.test"], ["a.test"]),
    ("mllm-diff", ""): (["a.mir", "b.mir"], ["a.mir", "b.mir"]),
    ("mllm-fmt", ""): (["a.mir"], ["a.mir"]),
    ("mllm-interp", ""): (["a.mir", "--input=x=x.npy", "--sidecar=s.json", "--weights=w/index.json", "--kernels=fast",
                           "--expect=y=y.npz:y", "--against=b.mir", "--against-weights=w.npz"],
                          ["a.mir", "x.npy", "s.json", "w/index.json", "w/part.safetensors", "y.npz", "b.mir", "w.npz"]),
    ("mllm-import", ""): (["m"], ["m/config.json", "m/model.safetensors"]),
    ("mllm-lsp", ""): (["--dialect=a.mir"], ["a.mir"]),
    ("mllm-opt", ""): (["-p", "@passes.txt", "--sidecar=s.json", "a.mir"], ["a.mir", "s.json", "passes.txt"]),
    ("mllm-pack", "create"): (["create", "a.mir", "--input=x=x.npy", "--expect=y-{run}.npy", "--then=1",
                               "--weights=w/index.json", "--sidecar=s.json"],
                              ["a.mir", "x.npy", "y-1.npy", "w/index.json", "w/part.safetensors", "s.json"]),
    ("mllm-pack", "extract"): (["extract", "p.mirz"], ["p.mirz"]),
    ("mllm-parse", ""): (["a.mir", "b.mir"], ["a.mir", "b.mir"]),
    ("mllm-reduce", ""): (["--differs", "-p", "@passes.txt", "a.mir"], ["a.mir", "passes.txt"]),
    ("mllm-run", ""): (["a.mir", "--tokenizer=t", "--weights=w.npz", "--prompt-file=a.test"],
                       ["a.mir", "t/tokenizer.json", "w.npz", "a.test"]),
    ("mllm-tokenize", ""): (["--tokenizer=t", "a.test"], ["t/tokenizer.json", "a.test"]),
    ("mllm-weights", "convert"): (["convert", "w/index.json", "w.npz", "--types-of=a.mir"],
                                  ["w/index.json", "w/part.safetensors", "w.npz", "a.mir"]),
    ("mllm-weights", "invent"): (["invent", "a.mir"], ["a.mir"]),
    ("mllm-weights", "plan"): (["plan", "a.mir", "w/index.json", "--input=x=x.npy", "--budget=1KiB"],
                               ["a.mir", "w/index.json", "w/part.safetensors", "x.npy"]),
}
# Names of files that a folder holds and that the command may write there, one that it reads and how it is read.
FOLDERS = {
    ("mllm-opt", "counterexamples"): ("rules.mirz", lambda path: [f"--validate-patterns={path}"]),
    ("mllm-opt", "dump"): ("000.mir", lambda path: ["-p", "simplify", path]),
    ("mllm-interp", "dump"): ("x.npy", lambda path: ["a.mir", f"--input=x={path}"]),
}


def prepare(folder, tools):
    (folder / "w").mkdir()
    (folder / "m").mkdir()
    (folder / "m/config.json").write_text(tool_rows.CONFIG)
    for name in ["a.mir", "b.mir"]:
        (folder / name).write_text(MODULE)
    (folder / "a.test").write_text("// RUN: true\n")
    (folder / "t").mkdir()
    (folder / "t/tokenizer.json").write_text(tool_rows.TOKENIZER)
    (folder / "passes.txt").write_text("simplify\n")
    (folder / "s.json").write_text('{"schema": 1}\n')
    (folder / "w/index.json").write_text('{"weight_map": {"t": "part.safetensors"}}\n')
    (folder / "w/part.safetensors").write_bytes(
        b"\x38\0\0\0\0\0\0\0" + b'{"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(56) + b"\0\0\0\0")
    shutil.copy(folder / "w/part.safetensors", folder / "m/model.safetensors")
    for words in [["mllm-interp", "a.mir", "--input=iota", "-o", "x.npy", "-o", "y-0.npy", "-o", "y-1.npy", "-o", "y.npz"],
                  ["mllm-weights", "convert", "w/part.safetensors", "-o", "w.npz"],
                  ["mllm-pack", "create", "a.mir", "-o", "p.mirz"]]:
        code, _, errors = tool_rows.run(tools, words, folder)
        assert code == 0, errors.decode()


def check_file(row, tools, folder):
    """What is wrong with a row that writes a file."""
    words, inputs = COMMANDS[row.tool, row.command]
    before = {name: (folder / name).read_bytes() for name in inputs}
    told = 0
    for name in inputs:
        for path in [name, f"./{name}", f"link/{name}"]:
            _, _, errors = tool_rows.run(tools, [row.tool, *words, f"--{row.name}={path}"], folder)
            told += f"--{row.name} would overwrite".encode() in errors
            for each, content in before.items():
                if (folder / each).read_bytes() != content:
                    (folder / each).write_bytes(content)
                    yield f"{row}={path} overwrites {each}"
            # Options that take names with certain ends refuse others for that.
            if b"would overwrite" not in errors and f"found '{path}'".encode() not in errors and \
                    f"'{path}' is no place".encode() not in errors:
                yield f"{row}={path} is not refused: {errors.decode()}"
    if told == 0:
        yield f"{row} never names the option and what it would overwrite"


def check_folder(row, tools, folder):
    """What is wrong with a row that writes files in a folder."""
    name, words = FOLDERS[row.tool, row.name]
    source = "x.npy" if name.endswith(".npy") else "w/part.safetensors" if name.endswith("tensors") else "a.mir"
    (folder / "out").mkdir(exist_ok=True)
    shutil.copy(folder / source, folder / "out" / name)
    before = (folder / "out" / name).read_bytes()
    _, _, errors = tool_rows.run(tools, [row.tool, *words(f"out/{name}"), f"--{row.name}=out"], folder)
    if (folder / "out" / name).read_bytes() != before:
        yield f"{row}=out overwrites out/{name}"
    if f"--{row.name} would overwrite 'out/{name}'".encode() not in errors:
        yield f"{row}=out is not refused: {errors.decode()}"
    shutil.rmtree(folder / "out")


def main(tools):
    problems = []
    checked = 0
    for row in tool_rows.all_rows(tools):
        # Rows whose help says that they write state what they write.
        writes = any(kind.startswith("written") for kind in row.refers_to)
        if row.argument in ("FILE", "FOLDER", "PATH", "[PORT=]FILE") and not row.refers_to:
            problems.append(f"{row} does not state whether it reads or writes the file")
        if not writes or (row.tool, row.command) == ("mllm-pack", "extract"):
            continue
        checked += 1
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(folder, tools)
            (folder / "link").symlink_to(".")
            check = check_folder if "written folder" in row.refers_to else check_file
            problems += check(row, tools, folder)
    print(*problems, f"{checked} options, {len(problems)} problems", sep="\n")
    return 1 if problems or checked < 10 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
