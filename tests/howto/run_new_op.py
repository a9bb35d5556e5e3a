#!/usr/bin/env python3
"""Runs the op that docs/howto/add-an-op.md adds, in a build of a copy in which the guides are followed.

usage: run_new_op.py TOOLS SCRATCH TEST_PROGRAM...

The op computes what its page says, by both sets of kernels, and the test programs of rows and tables accept it.
"""

import subprocess
import sys
from pathlib import Path

ERRORS = Path(__file__).resolve().parents[1] / "oracle/op_errors.py"
TYPE = "tensor<[2, 3], Float32, CPU>"
MODULE = f"""@main [mir_version:1] (%x:{TYPE}) -> (%y:{TYPE}) {{
    linalg.CPU.SquareOp (%x:{TYPE}) -> (%y:{TYPE})
    cf.ReturnOp (%y:{TYPE}) -> ()
}}
"""


def run(*command: object) -> None:
    """Prints what a command prints; ends where the command fails."""
    print("$", *command, flush=True)
    if subprocess.run([str(each) for each in command], check=False).returncode != 0:
        sys.exit(1)


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    tools, module = Path(sys.argv[1]), Path(sys.argv[2]) / "square.mir"
    for program in sys.argv[3:]:
        run(program)
    run("/usr/bin/python3", ERRORS, tools, "SquareOp")
    module.write_text(MODULE, encoding="utf-8")
    run(tools / "mllm-interp", module, "--input=x=[0, 1, 2, 3, 4, -5]", "--kernels=both", "--expect=y=[0, 1, 4, 9, 16, 25]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
