#!/usr/bin/env python3
"""Lets an editor drive the language server.

usage: client_test.py neovim|emacs|vscode TOOLS FILE

The editor works on a copy of FILE. It makes the edits of edits.py, and shows what mllm-parse prints after each of them.
`vscode` is the client library of Visual Studio Code without the editor, which npm does not have. Exits with 77 if the
editor is missing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import edits

HERE = Path(__file__).resolve().parent
EDITORS = HERE.parents[1] / "editors"
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def command_of(editor):
    if editor == "neovim":
        if shutil.which("nvim") is None:
            skip("nvim is missing: the Debian package neovim has it")
        return ["nvim", "--headless", "--clean", "-n", "-c", f"luafile {HERE / 'neovim_test.lua'}"]
    if editor == "vscode":
        modules = os.environ.setdefault("NODE_PATH", str(HERE / "node_modules"))
        if shutil.which("node") is None or not (Path(modules) / "vscode-languageserver-textdocument").exists():
            skip("node with the packages of vscode-languageserver-* is missing: run npm ci --ignore-scripts in "
                 "tests/editors, or set NODE_PATH")
        return ["node", str(HERE / "vscode_test.js")]
    if shutil.which("emacs") is None:
        skip("emacs is missing: the Debian package emacs-nox has it")
    if not any(Path("/usr/share/emacs").glob("**/elpa/eglot-*")):
        skip("eglot is missing: the Debian package elpa-eglot has it")
    return ["emacs", "--batch", "-Q", "-l", str(HERE / "emacs_test.el")]


def main(editor, tools, file):
    command = command_of(editor)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "model.mir"
        shutil.copy(file, copy)
        parse = str(Path(tools).resolve() / "mllm-parse")
        steps = edits.steps(parse, copy.read_text(encoding="utf-8"), Path(folder))
        (Path(folder) / "edits.json").write_text(json.dumps(steps), encoding="utf-8")
        environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_DATA_HOME": folder,
                       "MIR_FILE": str(copy), "MIR_EDITS": str(Path(folder) / "edits.json"), "MIR_SERVER": str(Path(tools).resolve() / "mllm-lsp"),
                       "MIR_RUNTIME": str(EDITORS / "vim"), "MIR_EMACS": str(EDITORS / "emacs")}
        done = subprocess.run(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, timeout=100, check=False)
    print(f"{editor} ends with status {done.returncode}")
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
