"""The last line of scripts/test says what really happened."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "lib"))
from count_tests import count, count_run, report  # noqa: E402

SUMMARY = "[doctest] test cases:  7 |  {} passed | {} failed | 1 skipped\n"


class CountTest(unittest.TestCase):
    def test_doctest_programs_count_each_case(self):
        self.assertEqual(count("OK", SUMMARY.format(6, 0)), (6, 0, 1))
        self.assertEqual(count("FAIL", SUMMARY.format(4, 2)), (4, 2, 1))
        self.assertEqual(count("FAIL", SUMMARY.format(1, 1) + SUMMARY.format(4, 2)), (4, 2, 1))

    def test_cases_that_were_not_asked_for_are_not_skipped(self):
        self.assertEqual(count("OK", SUMMARY.format(6, 0), is_part=True), (6, 0, 0))
        for word in ("--test-case=*threads*", "--source-file=*unit/ir/*"):
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "testlog.json"
                test = {"result": "OK", "stdout": SUMMARY.format(6, 0), "command": ["ir_test", word]}
                log.write_text(json.dumps(test) + "\n")
                self.assertEqual(count_run(log, 0), [6, 0, 0])

    def test_tap_programs_count_each_line(self):
        output = "1..4\nok 1 - a\nnot ok 2 - b\n# ok is a word of this comment\nok 3 # SKIP no\nok 4\n"
        self.assertEqual(count("FAIL", output), (2, 1, 1))

    def test_other_programs_count_once(self):
        self.assertEqual(count("OK", "ok, fine"), (1, 0, 0))
        self.assertEqual(count("SKIP", ""), (0, 0, 1))

    def test_a_crash_or_a_timeout_is_a_failure_whatever_was_printed(self):
        self.assertEqual(count("ERROR", ""), (0, 1, 0))
        self.assertEqual(count("TIMEOUT", "1..2\nok 1\n"), (1, 1, 0))
        self.assertEqual(count("FAIL", SUMMARY.format(6, 0)), (6, 1, 1))

    def test_a_run_without_a_log_or_with_a_bad_end_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "testlog.json"
            self.assertEqual(count_run(log, 0), [0, 1, 0])
            self.assertEqual(count_run(log, 1), [0, 1, 0])
            log.write_text(json.dumps({"result": "OK", "stdout": SUMMARY.format(6, 0)}) + "\n")
            self.assertEqual(count_run(log, 0), [6, 0, 1])
            self.assertEqual(count_run(log, 1), [6, 1, 1])

    def test_a_program_that_failed_is_named_with_what_it_says(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "build" / "meson-logs" / "testlog.json"
            log.parent.mkdir(parents=True)
            printed = "1..2\nok 1\nnot ok 2 - two\n# seen here\n"
            tests = [{"name": "golden", "result": "FAIL", "stdout": printed, "stderr": "end\n"},
                     {"name": "unit", "result": "OK", "stdout": SUMMARY.format(6, 0)}]
            log.write_text("".join(json.dumps(test) + "\n" for test in tests))
            self.assertEqual(report(log), ["build: golden: FAIL", "  not ok 2 - two", "  not ok 2 - two",
                                           "  # seen here", "  end"])


if __name__ == "__main__":
    unittest.main()
