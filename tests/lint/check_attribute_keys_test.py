"""The check of attribute keys finds literals that are keys of rows, whatever takes them."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_attribute_keys  # noqa: E402

ROWS = '''constexpr AttrRow kTurnAttributes[] = {
    {.name = "angle", .type = AttrType::kInt, .required = true, .summary = "a \\"name\\""},
};
constexpr OpRow kMyRows[] = {
    {.name = "TurnOp",
     .attributes = kTurnAttributes},
};
constinit const Dialect kMy{.name = "my"};
'''
VALUES = '  static constexpr AttrRow kValues[] = {\n      {.name = "elements", .summary = "numbers"},\n  };\n'


def problems(files: dict[str, str], other: dict[str, set[str]] | None = None) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files = {"include/mir/meson.build": "'../../src/dialects/values.cpp',\n'../../src/dialects/my_ops.cpp',",
                 "src/dialects/values.cpp": VALUES, "src/dialects/my_ops.cpp": ROWS} | files
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check_attribute_keys.check(root, other or {})


class AttributeKeysTest(unittest.TestCase):
    def test_a_key_is_named_with_its_place_and_its_constant(self):
        self.assertEqual(problems({"src/passes/a.cpp": '\nint x = any_function(op, "angle");\n'}),
                         ['src/passes/a.cpp:2: "angle" is the key of an attribute: '
                          'write key::kAngle, or an accessor of the op'])

    def test_keys_of_values_are_found_too(self):
        self.assertEqual(len(problems({"src/ir/a.cpp": 'x = context.intern("elements");'})), 1)

    def test_other_words_comments_and_texts_of_modules_are_no_keys(self):
        self.assertEqual(problems({"src/passes/a.cpp": 'a("angles"); // "angle"\nb(R"(my.TurnOp [angle:"angle"])");'}), [])

    def test_libraries_that_know_no_rows_are_exempt(self):
        self.assertEqual(problems({"src/syntax/a.cpp": 'a("angle");', "src/declare/a.cpp": 'a("angle");'}), [])

    def test_listed_words_are_accepted_and_unneeded_entries_are_not(self):
        other = {"src/passes/a.cpp": {"angle"}}
        self.assertEqual(problems({"src/passes/a.cpp": 'json["angle"] = 1;'}, other), [])
        self.assertEqual(problems({"src/passes/a.cpp": ""}, other),
                         ["src/passes/a.cpp: 'angle' is listed in check_attribute_keys.py and is not there"])


if __name__ == "__main__":
    unittest.main()
