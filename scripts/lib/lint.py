"""The main function that the checks of scripts/check_*.py share."""

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(check: Callable[[Path], list[str]]) -> None:
    """Prints the problems of the first argument, a folder, or of the project, and ends with status 1 if there are any."""
    problems = check(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)
