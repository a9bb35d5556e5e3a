"""The golden runner passes what matches, fails what differs, and never passes what it rewrote."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parents[1] / "run_golden.py"


class GoldenRunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def run_golden(self, **variables: str) -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("CI", "UPDATE_GOLDEN")} | variables
        run = subprocess.run([sys.executable, RUNNER, self.folder], env=environment, text=True,
                             capture_output=True)
        return run.returncode, run.stdout

    def test_matching_output_and_exit_status_pass(self):
        self.write("a.mir", "// RUN: cat %s; echo note >&2; exit 3\n// EXIT: 3\n")
        self.write("a.out", "// RUN: cat %s; echo note >&2; exit 3\n// EXIT: 3\n")
        self.write("a.err", "note\n")
        status, output = self.run_golden()
        self.assertEqual((status, output.splitlines()[0]), (0, "1..1"))
        self.assertIn("ok 1 - ", output)

    def test_a_difference_fails_with_a_diff_and_the_command_that_accepts_it(self):
        self.write("a.mir", "// RUN: echo new\n")
        self.write("a.out", "old\n")
        status, output = self.run_golden()
        self.assertEqual(status, 1)
        for line in ("not ok 1", "# -old", "# +new", "# to accept: UPDATE_GOLDEN=1 tests/run_golden.py"):
            self.assertIn(line, output)

    def test_unexpected_standard_error_and_exit_status_fail(self):
        self.write("a.mir", "// RUN: echo note >&2\n")
        self.write("b.mir", "// RUN: false\n")
        status, output = self.run_golden()
        self.assertEqual(status, 1)
        self.assertIn("# +note", output)
        self.assertIn("ended with 1, expected 0", output)

    def test_checks_hold_in_order(self):
        self.write("a.mir", "// RUN: printf 'one\\ntwo\\n'\n// CHECK: one\n// CHECK: two\n")
        self.assertEqual(self.run_golden()[0], 0)
        self.write("a.mir", "// RUN: printf 'one\\ntwo\\n'\n// CHECK: two\n// CHECK: one\n")
        self.assertEqual(self.run_golden()[0], 1)

    def test_paths_are_replaced_by_placeholders(self):
        self.write("a.mir", "// RUN: echo %S; pwd\n")
        self.write("a.out", "%S\n%T\n")
        self.assertEqual(self.run_golden()[0], 0)

    def test_an_update_rewrites_and_is_reported_as_skipped(self):
        self.write("a.mir", "// RUN: echo new\n")
        self.write("a.err", "gone\n")
        status, output = self.run_golden(UPDATE_GOLDEN="1")
        self.assertEqual(status, 0)
        self.assertIn("# SKIP updated", output)
        self.assertEqual((self.folder / "a.out").read_text(), "new\n")
        self.assertFalse((self.folder / "a.err").exists())

    def test_continuous_integration_forbids_updates(self):
        self.write("a.mir", "// RUN: echo new\n")
        status, output = self.run_golden(UPDATE_GOLDEN="1", CI="1")
        self.assertEqual((status, output), (1, "Bail out! UPDATE_GOLDEN is set in CI\n"))

    def test_a_case_without_a_command_fails_and_data_folders_hold_no_cases(self):
        self.write("data/a.mir", "@main () -> () {}\n")
        self.assertEqual(self.run_golden(), (0, "1..0 # SKIP no golden files\n"))
        self.write("b.mir", "@main () -> () {}\n")
        self.assertEqual(self.run_golden()[0], 1)


if __name__ == "__main__":
    unittest.main()
