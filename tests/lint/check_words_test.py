"""The check of words finds banned phrases in visible text and leaves identifiers alone."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_words  # noqa: E402


def problems(path: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return check_words.check(Path(folder))


class WordsTest(unittest.TestCase):
    def test_a_phrase_is_reported_with_its_place_and_the_better_wording(self):
        self.assertEqual(problems("docs/a.md", "# A\n\nA name is Sayable.\n"),
                         ["docs/a.md:3: banned phrase 'sayable', write: printable"])

    def test_every_phrase_is_found_in_documents_comments_and_messages(self):
        for phrase in check_words.BANNED:
            for path, text in {"README.md": phrase, "docs/ops/a.md": f"- `a_c1` It {phrase}.",
                               "src/ir/a.cpp": f"int a;  // it {phrase}\n",
                               "tools/a.hpp": f'.help = "it {phrase}"', "scripts/a.py": f"# {phrase}",
                               "testdata/mllm-opt/help.out": phrase}.items():
                found = problems(path, text)
                self.assertTrue(any(f"'{phrase}'" in problem for problem in found), (phrase, path))

    def test_a_phrase_that_a_line_break_divides_is_found_at_its_first_word(self):
        for path, text in {"docs/a.md": "\nIt is\ntold.\n", "src/a.hpp": "\n/// It is\n  /// told.\n",
                           "src/a.cpp": '\nfail("it is "\n     "told");\n'}.items():
            self.assertEqual([problem.split(": ")[0] for problem in problems(path, text)], [f"{path}:2"])

    def test_identifiers_and_parts_of_words_are_no_phrases(self):
        self.assertEqual(problems("src/a.cpp", "bool sayable(int unheard);\nchar c = '\"'; int sayable;\n"), [])
        self.assertEqual(problems("docs/a.md", "This is toldness, is_sayable and lookables.\n"), [])

    def test_frozen_files_and_other_kinds_of_files_are_left_alone(self):
        self.assertEqual(problems("testdata/compatibility/1/a.mir", "// sayable\n"), [])
        self.assertEqual(problems("testdata/a.npy", "sayable"), [])


if __name__ == "__main__":
    unittest.main()
