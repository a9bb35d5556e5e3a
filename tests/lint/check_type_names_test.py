"""The check of type names tells two types of one name from what only looks like it."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_type_names  # noqa: E402


def problems(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check_type_names.check(root)


class TypeNamesTest(unittest.TestCase):
    def test_two_types_of_one_name_are_named_with_both_places(self):
        self.assertEqual(problems({
            "include/mir/a.hpp": "namespace mir {\n\nstruct Expectation {\n};\n}\n",
            "src/b.hpp": "namespace mir {\nclass Expectation final : public Base {\n};\n}\n",
        }), ["src/b.hpp:2: type 'mir::Expectation' is also defined at include/mir/a.hpp:3"])

    def test_other_namespaces_declarations_and_nested_types_are_no_second_definition(self):
        self.assertEqual(problems({
            "include/mir/a.hpp": "namespace mir {\nstruct Spec {\n};\n}\n",
            "include/mir/b.hpp": "namespace mir::tools {\nstruct Spec {\n};\n}\n",
            "src/c.hpp": "namespace mir {\nstruct Spec;\nclass Outer::Spec {\n};\n"
                         "class Outer {\n  struct Spec {};\n};\n}\n",
        }), [])


if __name__ == "__main__":
    unittest.main()
