#!/usr/bin/env python3
"""Checks an installation's documents: links lead to installed pages, and pages that help texts name are there.

usage: installed_documents.py FOLDER TOOLS
"""

import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check_links import Project, anchors

CITED = re.compile(r"\b(docs/[\w/.-]+\.md)(?:#([\w-]+))?")
CITED_FOLDER = re.compile(r"\bdocs/[\w/-]*(?![\w/.-])")


def help_texts(tools: Path) -> dict[str, str]:
    """The help of each tool, and what it explains about each code."""
    def run(*command: str) -> str:
        return subprocess.run([tools / command[0], *command[1:]], stdout=subprocess.PIPE, text=True, check=True).stdout
    texts = {tool.name: run(tool.name, "--help") for tool in sorted(tools.glob("mllm-*"))}
    for code in re.findall(r"^MIR\d{4}", run("mllm-parse", "--list-codes"), re.MULTILINE):
        texts[code] = run("mllm-parse", f"--explain={code}")
    return texts


def main(folder: str, tools: str) -> int:
    root = Path(folder)
    documents = Project(root)
    complaints = documents.broken_links()
    cited = 0
    for name, text in help_texts(Path(tools)).items():
        # A citation may be broken between lines, but not a name.
        for path, anchor in CITED.findall(text):
            cited += 1
            if not (root / path).is_file():
                complaints.append(f"{name} cites {path}, which is not installed")
            elif anchor and anchor not in anchors(documents.prose[Path(path)]):
                complaints.append(f"{name} cites {path}#{anchor}, which has no such heading")
        complaints += [f"{name} cites the folder {path}" for path in CITED_FOLDER.findall(text)]
    if cited < 100:
        complaints.append(f"only {cited} citations were found")
    print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
