"""One build of the project with many mutants, each behind its number."""

import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

from .places import Place, apply, find_places

SOURCES = re.compile(r"src/.*\.(cpp|hpp|h)$")
SWITCH = "scripts/lib/mutants/switch.hpp"
MOST_MUTANTS = 4095  # switch.hpp has bytes for 0 to 4095
MOST_KIB = 12 << 20  # of memory that a test may use
# Diagnostics of the compiler that name a place of a source; errors alone, or all that they mention.
ERROR = re.compile(r"^(?:In file included from )?(\S+?):(\d+):\d+: (?:fatal )?error:", re.M)
MENTION = re.compile(r"^\s*(?:In file included from |from )?(\S+?):(\d+):", re.M)


class BuildFailed(Exception):
    pass


def library_of(path: str) -> str:
    """'plan' of src/plan/memory.cpp; the two kernel sets count on their own."""
    parts = path.split("/")
    if parts[1] == "kernels":
        return "kernels/ref" if parts[2] == "ref" else "kernels/fast"
    return parts[1]


def sources_of(root: Path) -> list[str]:
    """What git would commit."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True,
                            capture_output=True, text=True).stdout
    return sorted(path for path in listed.split("\0") if path and (root / path).is_file())


def choose(root: Path, libraries: list[str], count: int, seed: int) -> list[Place]:
    """`count` places of each library, none within another one; the same for the same seed and text."""
    found: dict[str, list[Place]] = {}
    for path in filter(SOURCES.match, sources_of(root)):
        found.setdefault(library_of(path), []).extend(find_places((root / path).read_text(), path))
    if unknown := set(libraries) - set(found):
        raise BuildFailed(f"no library is named '{unknown.pop()}'; there are {', '.join(sorted(found))}")
    chosen: list[Place] = []
    for library in libraries or sorted(found):
        places = found[library]
        random.Random(f"{seed} {library}").shuffle(places)
        taken: list[Place] = []
        for place in places:
            if len(taken) == count:
                break
            if all(place.path != other.path or place.end <= other.start or other.end <= place.start for other in taken):
                taken.append(place)
        chosen += taken
    if len(chosen) > MOST_MUTANTS:
        raise BuildFailed(f"{len(chosen)} mutants are more than the {MOST_MUTANTS} of one build")
    for number, place in enumerate(chosen, 1):
        place.number = number
    return chosen


def write_if_changed(path: Path, content: bytes) -> None:
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


class Program:
    """A copy of the tree in `work`/tree with its build in `work`/build, kept for the next run."""

    def __init__(self, root: Path, work: Path, places: list[Place]):
        self.root, self.tree, self.build_dir = root, work / "tree", work / "build"
        self.switch_file = work / "switch"
        self.places = places
        self.dropped: list[Place] = []

    def write(self) -> None:
        switched: dict[str, list[Place]] = {}
        for place in self.places:
            switched.setdefault(place.path, []).append(place)
        paths = sources_of(self.root)
        for path in paths:
            content = (self.root / path).read_bytes()
            if path in switched:
                content = apply(content.decode(), switched[path]).encode()
            write_if_changed(self.tree / path, content)
            (self.tree / path).chmod((self.root / path).stat().st_mode)
        for old in self.tree.rglob("*"):
            if old.is_file() and old.relative_to(self.tree).as_posix() not in set(paths):
                old.unlink()

    def switched(self, number: int, command: list[str]) -> list[str]:
        """The command with a mutant on, or with 0 none, if a session begins with it."""
        script = ('printf "$1" > "$0.$$" && truncate -s "$2" "$0.$$" && ulimit -c 0 && ulimit -v "$3" && '
                  'shift 3 && exec "$@"')
        octal = "".join(f"\\{byte:03o}" for byte in number.to_bytes(4, sys.byteorder))
        size = 4 + MOST_MUTANTS + 1
        return ["/bin/sh", "-c", script, str(self.switch_file), octal, str(size), str(MOST_KIB), *command]

    def reached(self, session: int) -> bytes:
        """The mutants that processes of an ended session came to; removes its switch."""
        file = Path(f"{self.switch_file}.{session}")
        try:
            return file.read_bytes()[4:]
        finally:
            file.unlink()

    def configure(self) -> None:
        """Writes the sources and sets up the build folder, unless it is there from an earlier run."""
        self.write()
        if not (self.build_dir / "build.ninja").exists():
            flags = ["-w", "-Wno-narrowing", f'-DMIR_MUTANTS_SWITCH="{self.switch_file}"', "-include",
                     str(self.tree / SWITCH)]
            self._run(["meson", "setup", str(self.build_dir), str(self.tree), "-Doptimization=1", "-Dwerror=false",
                       "-Dwarning_level=0", "-Dunity=on", "-Db_ndebug=false", f"-Dcpp_args={shlex.join(flags)}"])

    def build(self, targets: list[str], jobs: int) -> None:
        """Compiles the targets with all mutants off. Drops places that do not compile until the rest does."""
        command = ["ninja", "-C", str(self.build_dir), "-k", "0", f"-j{jobs}", *targets]
        while True:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace")
            if done.returncode == 0:
                return
            bad = self._named_in(done.stdout, ERROR) or self._named_in(done.stdout, MENTION)
            if not bad:
                raise BuildFailed(done.stdout[-4000:])
            self.dropped += bad
            self.places = [place for place in self.places if place not in bad]
            self.write()

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise BuildFailed(done.stdout + done.stderr)

    def _named_in(self, output: str, pattern: re.Pattern) -> list[Place]:
        """The places that the compiler complains of."""
        named = set()
        plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", output)
        for path, line in pattern.findall(plain):
            full = (self.build_dir / path).resolve()
            if full.is_relative_to(self.tree):
                named.add((full.relative_to(self.tree).as_posix(), int(line)))
        return [place for place in self.places
                if any(path == place.path and line in place.lines_after for path, line in named)]
