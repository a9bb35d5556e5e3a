"""The test programs of a build, and what they say of a mutant."""

import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from .places import Place
from .program import Program, library_of

# Those of the first phase judge all mutants, those of the next one only what is still not found.
PHASES = ({"unit"}, {"golden", "property"})
# A mutant that takes longer than this multiple of the time without one, and these seconds, is found.
SLOWER, GRACE = 4, 10
# Cases of a program that take no longer than these seconds run in one process.
SHORT = 0.2


@dataclass
class Test:
    name: str
    command: list[str]
    folder: str
    environment: dict[str, str]
    cases: tuple[str, ...] = ()  # of a doctest program; without any, the whole command
    seconds: float = 0.0
    reached: bytes = field(default=b"", repr=False)

    def title(self) -> str:
        return ": ".join([self.name, *self.cases])

    def full_command(self) -> list[str]:
        """Commas separate patterns of names; a `?` of a pattern is any character."""
        patterns = ",".join(re.sub(r"[,\\*]", "?", case) for case in self.cases)
        return [*self.command, f"--test-case={patterns}"] if self.cases else self.command


def golden_cases(tree: Path) -> list[str]:
    """The texts below testdata that have commands to run; what lies in a folder `data` belongs to others."""
    paths = (path.relative_to(tree) for path in (tree / "testdata").rglob("*")
             if path.suffix in (".test", ".mir") and re.search("^// RUN:", path.read_text(errors="replace"), re.M))
    return sorted(path.as_posix() for path in paths if "data" not in path.parts)


def judging_tests(program: Program, suites: set[str]) -> list[dict]:
    """Meson's descriptions of the tests of these suites that judge mutants."""
    listed = json.loads(introspect(program, "--tests"))
    return [each for each in listed
            if suites & {suite.split(":")[-1] for suite in each["suite"]}]


def introspect(program: Program, what: str) -> str:
    return subprocess.run(["meson", "introspect", what, str(program.build_dir)], check=True, capture_output=True,
                          text=True).stdout


def targets_of(program: Program, suites: set[str]) -> list[str]:
    """The files that the tests of these suites run, relative to the build folder: what must be built."""
    needed = {target for each in judging_tests(program, suites) for target in each["depends"]}
    return [os.path.relpath(path, program.build_dir) for target in json.loads(introspect(program, "--targets"))
            if target["id"] in needed for path in target["filename"]]


def tests_of(program: Program, suites: set[str]) -> list[Test]:
    """Meson's tests of these suites; each golden case and each case of a doctest program is a test of its own."""
    tests = []
    for each in judging_tests(program, suites):
        name, command, folder = each["name"], each["cmd"], each["workdir"] or str(program.build_dir)
        if command[-1] == "testdata":
            tests += [Test(case, [*command[:-1], case], folder, each["env"]) for case in golden_cases(program.tree)]
        elif is_doctest(Path(command[0])):
            tests += [Test(name, [*command, "--abort-after=1"], folder, each["env"], (case,))
                      for case in doctest_cases(command, folder)]
        else:
            tests.append(Test(name, command, folder, each["env"]))
    return tests


def doctest_cases(command: list[str], folder: str) -> list[str]:
    """The names of the cases of a program, each once."""
    listed = subprocess.run([*command, "--list-test-cases", "--no-colors"], cwd=folder, check=True, capture_output=True,
                            text=True).stdout
    return list(dict.fromkeys(line for line in listed.splitlines()
                              if line and not line.startswith(("[doctest]", "====="))))


def is_doctest(program: Path) -> bool:
    return program.suffix == "" and b"--abort-after" in program.read_bytes()


def passes(test: Test, limit: float, program: Program, number: int = 0) -> tuple[bool, bytes]:
    """Whether a test passes in `limit` seconds with this mutant on, and the mutants that it reaches;
    what it started ends with it."""
    process = subprocess.Popen(program.switched(number, test.full_command()), cwd=test.folder,
                               env={**os.environ, **test.environment}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        passed = process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        passed = False
    finally:
        end_session(process.pid)
        process.wait()
    return passed, program.reached(process.pid)


def end_session(session: int) -> None:
    """Ends all processes of a session, those in process groups of their own too."""
    while found := [process for process in running() if session_of(process) == session]:
        for process in found:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass


def running() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def session_of(process: int) -> int | None:
    """No value for a process that has ended."""
    try:
        state, _, _, session = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return None
    return None if state == "Z" else int(session)


def measure(tests: list[Test], program: Program, jobs: int, longest: float) -> tuple[list[Test], list[Test]]:
    """Runs each test without a mutant: those that pass know their time and the mutants that they
    reach; those that fail, or take more than `longest` seconds, cannot judge."""
    def run(test: Test) -> bool:
        begin = time.monotonic()
        passed, test.reached = passes(test, longest, program)
        test.seconds = time.monotonic() - begin
        return passed
    with ThreadPoolExecutor(jobs) as pool:
        passed = list(pool.map(run, tests))
    return ([test for test, good in zip(tests, passed) if good],
            [test for test, good in zip(tests, passed) if not good])


def grouped(tests: list[Test]) -> list[list[Test]]:
    """The short cases of each program together, each other test alone."""
    short: dict[str, list[Test]] = {}
    others = []
    for test in tests:
        if test.cases and test.seconds <= SHORT:
            short.setdefault(test.name, []).append(test)
        else:
            others.append([test])
    return others + list(short.values())


def joined(group: list[Test]) -> Test:
    """The cases of a group as one test."""
    return replace(group[0], cases=tuple(case for test in group for case in test.cases),
                   seconds=sum(test.seconds for test in group))


def finds(test: Test, place: Place, program: Program) -> bool:
    return not passes(test, SLOWER * test.seconds + GRACE, program, place.number)[0]


def finding_test(place: Place, tests: list[Test], program: Program, patience: float) -> Test | None:
    """The test that fails for a mutant: tests of its library first, then from the shortest to the
    longest. No test begins after `patience` seconds."""
    end = time.monotonic() + patience
    folder = f"unit/{library_of(place.path).split('/')[0]}/"
    groups = grouped([test for test in tests if test.reached[place.number]])
    for test in sorted(map(joined, groups), key=lambda each: (not any(folder in word for word in each.command),
                                                              each.seconds)):
        if time.monotonic() >= end:
            break
        if finds(test, place, program):
            return test
    return None


def all_finding_tests(place: Place, tests: list[Test], program: Program) -> list[Test]:
    """Each test, or case of a program, that fails for a mutant."""
    found = []
    for group in grouped([test for test in tests if test.reached[place.number]]):
        if finds(joined(group), place, program):
            found += [test for test in group if len(group) == 1 or finds(test, place, program)]
    return found
