"""The check of op names finds names of ops in strings and leaves other strings alone."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_op_names  # noqa: E402

ROWS = '{.name = "SliceOp",\n .type_name = "Slice"},\n{.name = "register",\n .type_name = ""},\n'


def problems(path: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, content in {"src/dialects/linalg/movement.hpp": ROWS, path: text}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return check_op_names.check(root)


class OpNamesTest(unittest.TestCase):
    def test_type_names_class_names_and_spellings_are_refused(self):
        for literal, name in {"Slice": "Slice", "SliceOp": "SliceOp", "linalg.{}.SliceOp": "SliceOp",
                              "Slice.{}": "Slice"}.items():
            self.assertEqual(problems("src/upgrade/storage.cpp", f'\nbool b = is("{literal}");\n'), [
                f"src/upgrade/storage.cpp:2: op name '{name}' as a string, expected its OpId or its row"])

    def test_every_folder_about_programs_is_checked(self):
        for folder in ("program", "upgrade", "upgrade/recover"):
            self.assertEqual(len(problems(f"src/{folder}/a.hpp", 'is("Slice");\n')), 1)
        self.assertEqual(problems("src/dialects/rules.cpp", 'is("Slice");\n'), [])

    def test_comments_messages_and_other_words_are_no_names(self):
        self.assertEqual(problems("src/upgrade/storage.cpp",
                                  '// "Slice"\nis("Slices"); is("register"); fail("Slice of nothing");\n'), [])


if __name__ == "__main__":
    unittest.main()
