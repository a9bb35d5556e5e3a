"""Compares modules inside a real git repository: mllm-diff as external diff, as text conversion and
as difftool, set up as docs/diff.md says. Where git is absent the test is skipped.

usage: git_diff.py TOOLS
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
BEFORE = """@main () -> () {
    graph.CallGraphOp @net (%0:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>)
    graph.SubGraphOp @net <CPU> {
        (%0:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>) {
            linalg.CPU.SiLUOp <name="net.act"> [b:1, a:2] (%0:tensor<[2, 4], Float32, CPU>) -> (%1:tensor<[2, 4], Float32, CPU>)
            cf.ReturnOp (%1:tensor<[2, 4], Float32, CPU>) -> ()
        }
    }
}
"""
# Other ids and another order of attributes: nothing changed.
RENUMBERED = BEFORE.replace("%1:", "%71:").replace("%0:", "%70:").replace("[b:1, a:2]", "[a:2, b:1]")
CHANGED = RENUMBERED.replace("a:2", "a:3")


class Repository:
    def __init__(self, tools: Path, folder: Path):
        self.folder = folder
        # Nobody's settings but the test's own.
        self.environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder), "LC_ALL": "C",
                            "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com",
                            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
        self.git("init", "-q")
        (folder / ".gitattributes").write_text("*.mir diff=mir\n")
        self.commit(BEFORE)

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, f"git {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def commit(self, text: str) -> None:
        (self.folder / "model.mir").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-qm", "x")


def check_all_files_are_shown(repository: Repository) -> None:
    """A renamed file and one that cannot be read do not end git before it comes to the others."""
    git, folder = repository.git, repository.folder
    (folder / "z.mir").write_text(BEFORE)
    (folder / "bad.mir").write_text(BEFORE)
    repository.commit(CHANGED)
    git("mv", "model.mir", "moved.mir")
    (folder / "moved.mir").write_text(CHANGED.replace("a:3", "a:4"))
    (folder / "z.mir").write_text(BEFORE.replace("a:2", "a:5"))
    (folder / "bad.mir").write_text(BEFORE.replace("SubGraphOp @net", "SubGraphOp (@net"))
    git("add", "-A")
    lines = ["+    attribute 'a': 4", "+    graph.SubGraphOp (@net <CPU> {", "+    attribute 'a': 5", "+++ moved.mir"]
    shown = git("diff", "--cached", "-M")
    assert all(line in shown for line in lines), shown
    git("commit", "-qm", "x")
    command = ["-c", "diff.mir.textconv=mllm-diff --normalize"]
    shown = git(*command, "log", "-p", "--no-ext-diff", "--textconv", "-M", "-1")
    assert all(f"a:{n}" in shown for n in (4, 5)) and "+    graph.SubGraphOp (@net" in shown, shown
    shown = git("log", "-p", "--ext-diff", "-M", "-1")
    assert all(line in shown for line in lines), shown
    git("reset", "-q", "--hard", "HEAD~2")


def check(repository: Repository) -> None:
    git = repository.git
    path = repository.folder / "model.mir"
    changed = ["-    attribute 'a': 2", "+    attribute 'a': 3"]

    git("config", "diff.mir.command", "mllm-diff")
    path.write_text(RENUMBERED)
    assert "attribute" not in git("diff"), "renumbered values count as changes"
    path.write_text(CHANGED)
    shown = git("diff")
    assert all(line in shown for line in changed), shown
    assert "%71" not in shown, shown

    repository.commit(CHANGED)
    shown = git("log", "-p", "--ext-diff", "-1")
    assert all(line in shown for line in changed), shown
    shown = git("show", "--ext-diff", "HEAD")
    assert all(line in shown for line in changed), shown
    (repository.folder / "new.mir").write_text(BEFORE)
    git("add", "-A")
    assert "+@main" in git("diff", "--cached"), "a new file is no new module"
    git("rm", "-qf", "--cached", "new.mir")
    (repository.folder / "new.mir").unlink()
    check_all_files_are_shown(repository)

    git("config", "--unset", "diff.mir.command")
    git("config", "diff.mir.textconv", "mllm-diff --normalize")
    lines = [line for line in git("diff", "HEAD~1", "HEAD", "--", "model.mir").splitlines()
             if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert len(lines) == 2 and all("SiLUOp" in line for line in lines), lines
    path.write_text(CHANGED.replace("%71:", "%5:"))
    assert git("diff", "--", "model.mir") == "", "renumbered values change the normal form"
    path.write_text(BEFORE)
    shown = git("difftool", "-y", "-x", "mllm-diff")
    assert "-    attribute 'a': 3" in shown, shown


def main(tools: Path) -> int:
    if shutil.which("git") is None:
        print("skipped: there is no git", file=sys.stderr)
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        check(Repository(tools, Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
