#!/usr/bin/python3
"""What a build costs: the seconds of each folder, and the wait after a change of one source.

    scripts/build_table.py [BUILD]               from the log of ninja, each object at its last build
    scripts/build_table.py [BUILD] --changes=N   touches N sources of src and tools, evenly chosen,
                                                 one after the other, and builds everything each time

Switch a compiler cache off before (CCACHE_DISABLE=1); steps that ran side by side count in full each.
"""

import os
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def folder_of(output):
    """`src/verify`, `tools`, `tests/unit`: where the sources of this output are."""
    parts = Path(output).parts
    depth = 1 if parts[0] in ("tools", "bench", "grammar", "fuzz") else 2
    return "/".join(parts[:depth])


def seconds_by_folder(log):
    """{folder: [seconds of objects, objects, seconds of all other steps]} of a log of ninja."""
    last = {}
    for line in log.splitlines():
        if line.startswith("#"):
            continue
        start, end, _, output, _ = line.split("\t")
        last[output] = (int(end) - int(start)) / 1000
    table = defaultdict(lambda: [0.0, 0, 0.0])
    for output, seconds in last.items():
        if not output.startswith(("src/", "tools/", "tests/", "bench/", "grammar/", "fuzz/")):
            continue
        row = table[folder_of(output)]
        if output.endswith(".o"):
            row[0] += seconds
            row[1] += 1
        else:
            row[2] += seconds
    return table


def show(table):
    print("| Folder | Objects | Compile, s | Link and generate, s |\n|---|---:|---:|---:|")
    for folder, (compile_, objects, other) in sorted(table.items(), key=lambda row: -row[1][0]):
        print(f"| `{folder}` | {objects} | {compile_:.0f} | {other:.0f} |")
    columns = list(zip(*table.values()))
    print(f"| all | {sum(columns[1])} | {sum(columns[0]):.0f} | {sum(columns[2]):.0f} |")


def time_changes(build, count):
    sources = sorted([*ROOT.glob("src/**/*.cpp"), *ROOT.glob("tools/**/*.cpp")])
    waits = []
    for source in sources[:: max(1, len(sources) // count)][:count]:
        os.utime(source)
        start = time.monotonic()
        subprocess.run(["ninja", "-C", build], check=True, stdout=subprocess.DEVNULL)
        waits.append(time.monotonic() - start)
        print(f"{waits[-1]:6.1f} s  {source.relative_to(ROOT)}", flush=True)
    print(f"median {statistics.median(waits):.1f} s, longest {max(waits):.1f} s of {len(waits)}")


def main(arguments):
    counts = [argument for argument in arguments if argument.startswith("--changes=")]
    folders = [argument for argument in arguments if not argument.startswith("-")]
    if len(counts) + len(folders) != len(arguments) or len(folders) > 1 or len(counts) > 1:
        sys.exit(__doc__)
    build = Path(folders[0] if folders else "build")
    if counts:
        time_changes(build, int(counts[0].partition("=")[2]))
    else:
        show(seconds_by_folder((build / ".ninja_log").read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
