"""The link check accepts what leads somewhere and names what does not."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_links  # noqa: E402

INDEX = "# Documents\n\n[a page](page.md)\n"


def problems(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, text in ({"docs/README.md": INDEX, "docs/page.md": "# Page\n"} | files).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return check_links.check(root)


class LinksTest(unittest.TestCase):
    def test_files_and_headings_that_exist_are_accepted(self):
        self.assertEqual(problems({
            "README.md": "[a](docs/page.md#two-words-here), [web](https://example.org/x), [b\nc](docs/page.md)\n",
            "docs/page.md": "# Page\n\n## Two `words`, here\n\n[up](../README.md) [here](#page)\n",
        }), [])

    def test_documents_of_installed_packages_are_left_out(self):
        self.assertEqual(problems({"tests/node_modules/a/README.md": "[a](gone.md)\n"}), [])

    def test_equal_headings_are_numbered(self):
        files = {"docs/page.md": "# A\n\n# A\n\n[first](#a) [second](#a-1) [third](#a-2)\n"}
        self.assertEqual(problems(files), ["docs/page.md:5: docs/page.md has no heading #a-2"])

    def test_a_missing_file_and_a_missing_heading_are_named(self):
        self.assertEqual(problems({"README.md": "\n[a](docs/gone.md)\n[b](docs/page.md#gone)\n"}), [
            "README.md:2: there is no docs/gone.md",
            "README.md:3: docs/page.md has no heading #gone",
        ])

    def test_links_in_code_are_no_links(self):
        self.assertEqual(problems({"README.md": "`[a](gone.md)`\n\n```\n[b](gone.md)\n```\n"}), [])

    def test_paths_in_backticks_exist(self):
        self.assertEqual(problems({"docs/page.md": "`docs/*.md`, `docs/<name>.md`, `a/b`, `docs/gone.md --x`\n"}),
                         ["docs/page.md:1: there is no docs/gone.md"])

    def test_code_of_a_file_is_in_the_file(self):
        source = {"src/a.cpp": "int a;\nint b;\n"}
        shown = "```cpp src/a.cpp\nint {};\n```\n```cpp\nint c;\n```\n"
        self.assertEqual(problems(source | {"docs/page.md": shown.format("b")}), [])
        self.assertEqual(problems(source | {"docs/page.md": "# Page\n" + shown.format("c")}),
                         ["docs/page.md:2: src/a.cpp has no such lines"])
        self.assertEqual(problems({"docs/page.md": shown.format("b")}),
                         ["docs/page.md:1: src/a.cpp has no such lines"])

    def test_every_page_is_linked_once(self):
        self.assertEqual(problems({"docs/README.md": INDEX + "[again](page.md#page)\n"}),
                         ["docs/README.md links docs/page.md 2 times, expected once"])
        self.assertEqual(problems({"docs/other.md": "# Other\n"}), [
            "docs/README.md links docs/other.md 0 times, expected once",
            "no link leads from docs/README.md to docs/other.md",
        ])

    def test_pages_below_are_reached_through_other_pages(self):
        below = {"docs/ops/add.md": "# Add\n"}
        self.assertEqual(problems(below), ["no link leads from docs/README.md to docs/ops/add.md"])
        self.assertEqual(problems(below | {"docs/page.md": "# Page\n[add](ops/add.md)\n"}), [])


if __name__ == "__main__":
    unittest.main()
