"""The check of comments requires a first line of sources and refuses headless openings of comments."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_comments  # noqa: E402


def problems(path: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return check_comments.check(Path(folder))


class CommentsTest(unittest.TestCase):
    def test_a_source_without_a_first_comment_is_reported_and_a_header_is_not(self):
        for folder in check_comments.FOLDERS:
            self.assertEqual(problems(f"{folder}/a.cpp", '#include "a.hpp"\n\n// A.\n'),
                             [f"{folder}/a.cpp:1: expected a first line '// ...' that tells what the file computes or owns"])
            self.assertEqual(problems(f"{folder}/a.cpp", '// Adds.\n#include "a.hpp"\n'), [])
            self.assertEqual(problems(f"{folder}/a.hpp", "#pragma once\n"), [])

    def test_each_opening_is_reported_at_its_line_with_the_repair(self):
        for opening, repair in check_comments.OPENINGS.items():
            for text in (f"// A.\n/// {opening} x.\nint a;\n", f"// A.\nint a;  ///< {opening} x\n",
                         f"// A.\n  /// {opening} x.\n  /// More.\n"):
                self.assertEqual(problems("src/support/a.hpp", text),
                                 [f"src/support/a.hpp:2: a comment begins with '{opening}', write: {repair}"])

    def test_other_openings_words_inside_and_continued_lines_are_left_alone(self):
        text = ('// What it does.\n/// Returns the sum. What is lost is\n/// Whether or not.\n///\n/// Of late.\nint a;\n'
                '/// Whatever.\n/// Office hours.\nint b;  // What\nauto c = "/// What";\nauto d = R"(\n/// What)";\n')
        self.assertEqual(problems("tools/a.cpp", text), [])

    def test_a_comment_after_code_is_a_comment_of_its_own(self):
        self.assertEqual(len(problems("src/a.hpp", "/// A.\nint a;\n/// What b is.\nint b;\n")), 1)


if __name__ == "__main__":
    unittest.main()
