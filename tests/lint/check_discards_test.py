"""What check_discards.py takes for a value that is thrown away."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check_discards import discards  # noqa: E402


class DiscardsTest(unittest.TestCase):
    def test_casts_of_calls_are_found(self):
        text = "int a;\n(void)ref::cast({x}, y);\nstatic_cast<void>(file->write(b));\nstd::ignore = f(1);\n"
        self.assertEqual(discards(text), [(2, "cast"), (3, "write"), (4, "f")])
        self.assertEqual(discards("if (a) (void)\n    done<int>(1);"), [(1, "done")])

    def test_variables_and_advice_are_not(self):
        self.assertEqual(discards("(void)unused;\n(void)malloc_trim(0);\nvoid f(void);\nstatic_cast<void>(sink);"), [])


if __name__ == "__main__":
    unittest.main()
