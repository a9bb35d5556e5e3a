#!/usr/bin/env python3
"""Checks the pages that the tools write during the build, as an installation has them beside those of docs/.

usage: generated_pages.py SOURCE_ROOT TOOLS PAGES

- Each page is what its tool prints now, and longer than the pages that are kept in git.
- It has one section for each code or pass that the tool lists, and no other.
- Its links lead to pages and headings.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check_links import Project

# The command that writes a page, the command that lists its subjects, and their headings.
PAGES = {
    "diagnostics.md": ("mllm-parse --list-codes-markdown", "mllm-parse --list-codes", r"^### (MIR\d{4})$"),
    "passes.md": ("mllm-opt --list-passes-markdown", "mllm-opt --list-passes", r"^## ([\w-]+)$"),
}
LONGEST_IN_GIT = 500


def run(tools: Path, command: str) -> str:
    tool, *arguments = command.split()
    done = subprocess.run([tools / tool, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def check_page(tools: Path, page: Path) -> list[str]:
    write, enumerate_subjects, heading = PAGES[page.name]
    text = page.read_text(encoding="utf-8")
    complaints = [] if text == run(tools, write) else [f"{page.name} is not what `{write}` prints"]
    listed = [line.split()[0] for line in run(tools, enumerate_subjects).splitlines()]
    described = re.findall(heading, text, re.MULTILINE)
    complaints += [f"{page.name} has no section about {name}" for name in listed if name not in described]
    complaints += [f"{page.name} describes {name}, which is not listed" for name in described if name not in listed]
    complaints += [f"{page.name} has two sections about {name}" for name in listed if described.count(name) > 1]
    if text.count("\n") <= LONGEST_IN_GIT:
        complaints.append(f"{page.name} has at most {LONGEST_IN_GIT} lines: keep it in git, where people read it")
    return complaints


def broken_links(root: Path, pages: list[Path]) -> list[str]:
    """Those of the documents with the pages among them."""
    with tempfile.TemporaryDirectory() as scratch:
        documents = Path(scratch)
        shutil.copytree(root / "docs", documents / "docs")
        (documents / "bench").mkdir()
        for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md"):
            shutil.copy(root / name, documents / name)
        for page in pages:
            if (documents / "docs" / page.name).exists():
                return [f"docs/{page.name} is generated: remove it from git"]
            shutil.copy(page, documents / "docs")
        links = Project(documents)
        return [problem for problem in links.broken_links() if problem.startswith("docs/")]


def main(root: str, tools: str, pages: str) -> int:
    built = [Path(pages) / name for name in PAGES]
    complaints = [line for page in built for line in check_page(Path(tools), page)]
    complaints += broken_links(Path(root), built)
    print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
