"""The check of traits tells a fact that code reads from one that only rows have."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_traits  # noqa: E402

CONTEXT = """enum class Trait : std::uint32_t {
  kNone = 0,
  kPure = 1 << 0,  ///< read
  kOdd = 1 << 1,
};
enum class Effect : std::uint8_t {
  kNone = 0,
  kReads = 1 << 0,
};
"""


def problems(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in {"include/mir/context.hpp": CONTEXT, **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check_traits.check(root)


class TraitsTest(unittest.TestCase):
    def test_facts_that_code_reads_are_in_order(self):
        self.assertEqual(problems({"src/ir/a.cpp": "op.has(Trait::kPure) && has(e, Effect::kReads)",
                                   "tools/b.cpp": "Trait::kOdd"}), [])

    def test_a_fact_of_rows_and_words_alone_is_named(self):
        self.assertEqual(problems({"src/ir/a.cpp": "Trait::kPure Effect::kReads",
                                   "src/dialects/linalg/rows.hpp": "Trait::kOdd",
                                   "src/dialects/cf_ops.cpp": "Trait::kOdd",
                                   "src/declare/words.hpp": "Trait::kOdd"}),
                         ["include/mir/context.hpp: nothing reads 'Trait::kOdd'"])


if __name__ == "__main__":
    unittest.main()
