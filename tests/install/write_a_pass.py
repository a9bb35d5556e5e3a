#!/usr/bin/env python3
"""Follows docs/howto/write-a-pass.md: writes its file, and runs its commands with an installed toolkit.

usage: write_a_pass.py SOURCE_ROOT COMPILER

The tools are in PATH and pkg-config finds the library, as use_from_outside.sh prepares them.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve()
sys.path[:0] = [str(ROOT / "tests/docs"), str(ROOT / "scripts/lib")]
from documents import read_document
from run_commands import Shell, read_commands

DOCUMENT = Path("docs/howto/write-a-pass.md")
EXAMPLE = Path("tests/plugin/count_ops.cpp")
THIS = "console not run: tests/install/write_a_pass.py"


def main(compiler: str) -> int:
    blocks = read_document(ROOT, DOCUMENT).blocks
    shown = ["\n".join(block.lines) + "\n" for block in blocks if block.info == f"cpp {EXAMPLE}"]
    source = "\n".join(shown)
    if source != (ROOT / EXAMPLE).read_text(encoding="utf-8"):
        print(f"{DOCUMENT} does not show all of {EXAMPLE}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        tools = scratch / "bin"
        tools.mkdir()
        (tools / "c++").symlink_to(shutil.which(compiler))
        shutil.copytree(ROOT / "testdata/examples", scratch / "examples")
        (scratch / "examples" / EXAMPLE.name).write_text(source, encoding="utf-8")
        shell = Shell(scratch / "examples", tools)
        shell.environment |= {key: text for key, text in os.environ.items() if key.startswith("PKG_CONFIG")}
        commands = [command for block in blocks if block.info == THIS for command in read_commands(block)]
        complaints = [line for command in commands for line in shell.run(command)]
    print(*complaints, f"{len(commands)} commands of {DOCUMENT}", sep="\n")
    return 1 if complaints or len(commands) < 4 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[2]))
