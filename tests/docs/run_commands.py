#!/usr/bin/env python3
"""Runs the commands of the documents and compares what they show: a test for every block of commands.

usage: run_commands.py [--tools DIR] [--root DIR] [--examples DIR] [DOCUMENT...]

docs/testing.md describes the blocks. Without DOCUMENT all Markdown files of the project are taken. Prints TAP.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lib"))
from documents import Block, Document, find_documents, read_document

TIMEOUT_SECONDS = 60
STATUS = re.compile(r"\s+# exit status (\d+)$")
NOT_RUN = re.compile(r"^console not run: (.+)$")
REASONS = {"minutes", "corpus", "editor"}
LOOKS_LIKE_A_COMMAND = re.compile(r"^(\$ |mllm-[a-z]+ |scripts/\w|build[\w-]*/|meson |ninja )")
ANY_LINES = "..."


@dataclass
class Command:
    text: str
    status: int = 0
    shown: list[str] = field(default_factory=list)  # what the document says that it prints


def read_commands(block: Block) -> list[Command]:
    """The commands of a block, each with the lines that it is said to print."""
    commands: list[Command] = []
    is_open = False  # the last line was one of a command's
    for line in block.lines:
        if line.startswith("$ "):
            commands.append(Command(line[2:]))
            is_open = True
        elif commands and is_open and (line.startswith("> ") or line == ">"):
            commands[-1].text += "\n" + line[2:]
        elif commands and is_open and commands[-1].text.endswith("\\"):
            commands[-1].text += "\n" + line
        elif commands:
            commands[-1].shown.append(line)
            is_open = False
    for command in commands:
        if match := STATUS.search(command.text):
            command.status = int(match[1])
    return commands


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines are the same, where a line `...` is any number of lines."""
    if not shown:
        return not printed
    if shown[0] == ANY_LINES:
        return any(matches(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and shown[0].rstrip() == printed[0].rstrip() and matches(shown[1:], printed[1:])


class Shell:
    """Runs commands one after the other; each starts in the folder in which the one before it ended."""

    def __init__(self, folder: Path, tools: Path):
        self.top = self.folder = folder
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TERM": "dumb",
                            "HOME": str(folder), "COLUMNS": "80"}

    def run(self, command: Command) -> list[str]:
        """Complaints about a command."""
        script = f"{command.text}\nstatus=$?; pwd >&9; exit $status"
        with tempfile.TemporaryFile("w+") as place:
            try:
                run = subprocess.run(["bash", "-o", "pipefail", "-c", f"exec 9>&{place.fileno()}\n{script}"],
                                     cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                     pass_fds=[place.fileno()], timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                return [f"$ {command.text}", f"ran longer than {TIMEOUT_SECONDS} s"]
            place.seek(0)
            self.folder = Path(place.read().strip() or self.folder)
        printed = run.stdout.splitlines()
        complaints = []
        if run.returncode != command.status:
            complaints += [f"exit status {run.returncode}, expected {command.status}", *printed]
        if command.shown and not matches(command.shown, printed):
            complaints += difflib.unified_diff(command.shown, printed, "document", "terminal", lineterm="")
        return [f"$ {command.text}", *complaints] if complaints else []


def missing_scripts(root: Path, block: Block) -> list[str]:
    """The scripts that commands which are not run name, and that do not exist."""
    words = [word for line in block.lines for word in re.findall(r"(?:^| )(scripts/[\w./-]*\w)", line)]
    return [f"there is no {word}" for word in words if not (root / word).exists()]


def stray_commands(document: Document) -> list[str]:
    """Commands in code that is not a `console` block."""
    indented = [(number, line[4:]) for number, line in document.prose if line.startswith("    ")]
    fenced = [(block.line + at, line) for block in document.blocks if not block.info.startswith("console")
              for at, line in enumerate(block.lines, 1)]
    return [f"{document.path}:{number}: '{line}' is not in a block '```console'"
            for number, line in indented + fenced if LOOKS_LIKE_A_COMMAND.match(line)]


def check_block(root: Path, block: Block, shell: Shell) -> list[str]:
    if match := NOT_RUN.match(block.info):
        reason = match[1]
        known = reason in REASONS or (reason.startswith("test") and (root / reason).is_file())
        return missing_scripts(root, block) + ([] if known else [f"'{reason}' is no reason to leave commands out"])
    if block.info != "console":
        return [f"'{block.info}' is neither 'console' nor 'console not run: REASON'"]
    commands = read_commands(block)
    if not commands:
        return ["no line begins with '$ '"]
    shell.folder = shell.top
    complaints = []
    for command in commands:
        complaints += shell.run(command)
    return complaints


def check_document(root: Path, path: Path, tools: Path, examples: Path) -> list[tuple[str, list[str]]]:
    """Names of tests with their complaints: each block of commands, and the rest of the document."""
    document = read_document(root, path)
    results = [(f"{path}: every command is in a block of commands", stray_commands(document))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "examples"
        shutil.copytree(examples, folder)
        families = root / "share/mir/families"
        if families.is_dir():
            shutil.copytree(families, folder / "families")
        shell = Shell(folder, tools)
        results += [(f"{path}:{block.line}", check_block(root, block, shell))
                    for block in document.blocks if block.info.startswith("console")]
    return results


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", default="build/tools", help="folder of the programs under test")
    parser.add_argument("--root", default=Path(__file__).resolve().parents[2], type=Path, help="folder of the project")
    parser.add_argument("--examples", type=Path, help="folder of the examples; without it, that of the project")
    parser.add_argument("documents", nargs="*", type=Path)
    arguments = parser.parse_args()
    documents = arguments.documents or find_documents(arguments.root)
    tools = Path(arguments.tools).resolve()
    examples = arguments.examples or arguments.root / "testdata/examples"
    results = [result for each in documents for result in check_document(arguments.root, each, tools, examples)]
    print(f"1..{len(results)}")
    for number, (name, complaints) in enumerate(results, 1):
        print(f"{'not ok' if complaints else 'ok'} {number} - {name}")
        for complaint in complaints:
            print("\n".join(f"# {line}" for line in complaint.split("\n")))
    return 1 if any(complaints for _, complaints in results) else 0


if __name__ == "__main__":
    sys.exit(main())
