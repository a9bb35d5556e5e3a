#!/usr/bin/env python3
"""Follows docs/howto/add-an-op.md and add-a-fast-kernel.md on a copy of the sources, builds it and runs the new op.

usage: follow_howtos.py SOURCE_ROOT SCRATCH [MESON_ARGUMENT...]

A block ```diff PATH``` of a document is part of a step: lines that begin with a blank are in the file, those with a
`+` come in after them. The files of one step are one place: a file, or a header and its source. SCRATCH is kept: what did not change since the last run
is not built again.
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
from documents import read_document

HOWTOS = {Path("docs/howto/add-an-op.md"): 5, Path("docs/howto/add-a-fast-kernel.md"): 3}  # places at most
COPIED = ["meson.build", "meson_options.txt", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench",
          "dependencies", "docs", "editors", "fuzz", "grammar", "include", "scripts", "src", "testdata", "tests", "tools"]
SETUP = ["--buildtype=plain", "-Doptimization=0", "-Dunity=on", "-Dwerror=false", "-Dcpp_args=-w"]
TARGETS = ["tools/mllm-interp", "tools/mllm-parse", "tests/unit/dialects/dialects_test",
           "tests/unit/plan/op_tables_test", "tests/unit/kernels/libkernel_problems.a"]
TYPE = "tensor<[2, 3], Float32, CPU>"
MODULE = f"""@main [mir_version:1] (%x:{TYPE}) -> (%y:{TYPE}) {{
    linalg.CPU.SquareOp (%x:{TYPE}) -> (%y:{TYPE})
    cf.ReturnOp (%y:{TYPE}) -> ()
}}
"""


def fail(message: str) -> None:
    sys.exit(message)


def read_sources(root: Path) -> dict[str, bytes]:
    """The files of a build by their paths."""
    files = [root / name for name in COPIED]
    files += [path for folder in files if folder.is_dir() for path in folder.rglob("*")]
    return {str(path.relative_to(root)): path.read_bytes()
            for path in files if path.is_file() and "__pycache__" not in path.parts}


def add(sources: dict[str, bytes], path: str, lines: list[str], place: str) -> None:
    """Puts the lines of a block with a `+` after the lines before them."""
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+")).encode()
    after = "".join(f"{line[1:]}\n" for line in lines).encode()
    text = b"\n" + sources[path]
    if text.count(b"\n" + before) != 1:
        fail(f"{place}: {path} has the block's lines {text.count(before)} times, expected once")
    sources[path] = text.replace(b"\n" + before, b"\n" + after)[1:]


def follow(root: Path, path: Path, most: int, sources: dict[str, bytes]) -> None:
    """Carries out the steps of a document, which are no more than promised."""
    document = read_document(root, path)
    steps = [number for number, line in document.prose if re.match(r"## \d+\. ", line)]
    blocks = [block for block in document.blocks if block.info.startswith("diff ")]
    if len(steps) > most:
        fail(f"{path}: {len(steps)} places, at most {most} are promised")
    for step, end in zip(steps, [*steps[1:], sys.maxsize]):
        shown = {block.info.removeprefix("diff ") for block in blocks if step < block.line < end}
        if len({Path(file).with_suffix("") for file in shown}) != 1:
            fail(f"{path}:{step}: the step shows {sorted(shown)}, expected one file, or a header and its source")
    for block in blocks:
        add(sources, block.info.removeprefix("diff "), block.lines, f"{path}:{block.line}")


def write_changed(sources: dict[str, bytes], folder: Path) -> None:
    """Makes the files of a folder these; those that are so already keep their times."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        if str(path.relative_to(folder)) not in sources:
            path.unlink()
    for name, text in sources.items():
        path = folder / name
        if path.exists() and path.read_bytes() == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
        path.chmod(0o755 if text.startswith(b"#!") else 0o644)


def run(*command: object) -> str:
    """What a command prints; ends with all of it where the command fails."""
    done = subprocess.run([str(each) for each in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        fail(f"$ {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def check_op(source: Path, build: Path) -> None:
    """The op computes what its page says, by both kernel sets, and the tests of rows and tables accept it."""
    run(build / "tests/unit/dialects/dialects_test")
    run(build / "tests/unit/plan/op_tables_test")
    run("/usr/bin/python3", source / "tests/oracle/op_errors.py", build / "tools", "SquareOp")
    module = build / "square.mir"
    module.write_text(MODULE, encoding="utf-8")
    report = run(build / "tools/mllm-interp", module, "--input=x=[0, 1, 2, 3, 4, -5]", "--kernels=both",
                 "--expect=y=[0, 1, 4, 9, 16, 25]")
    print(report, end="")


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    root, scratch = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    source, build = scratch / "source", scratch / "build"
    sources = read_sources(root)
    for path, most in HOWTOS.items():
        follow(root, path, most, sources)
    write_changed(sources, source)
    if not (build / "build.ninja").exists():
        run("meson", "setup", build, source, *SETUP, *sys.argv[3:])
    run("ninja", "-C", build, *TARGETS)
    check_op(source, build)
    return 0


if __name__ == "__main__":
    sys.exit(main())
