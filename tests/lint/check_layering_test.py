"""The layering check accepts what CONTRIBUTING.md allows and names what it forbids."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import check_layering  # noqa: E402


def problems(files: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name, included in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("".join(f'#include "{text}"\n' for text in included.split()))
        return check_layering.check(root)


class LayeringTest(unittest.TestCase):
    def test_lower_layers_and_own_private_headers_are_allowed(self):
        self.assertEqual(problems({
            "include/mir/ir/op.hpp": "mir/ir/type.hpp mir/support/arena.hpp",
            "src/ir/use_list.hpp": "",
            "src/ir/op.cpp": "use_list.hpp mir/syntax/tree.hpp",
            "src/interp/plan/plan.cpp": "mir/passes/pass.hpp mir/eval/eval.hpp",
            "grammar/lexer.re": "lexer.hpp",
        }), [])

    def test_a_higher_layer_is_refused_with_its_line(self):
        self.assertEqual(problems({"src/passes/fold.cpp": "mir/eval/eval.hpp mir/plan/plan.hpp"}),
                         ["src/passes/fold.cpp:2: layer 'passes' may not include 'mir/plan/plan.hpp'"])

    def test_dialects_lie_above_ir_although_inside_its_folder(self):
        self.assertEqual(problems({"src/ir/dialects/cf.cpp": "mir/dialects/cf.hpp"}), [])
        self.assertEqual(len(problems({"src/ir/op.cpp": "mir/dialects/cf.hpp"})), 1)

    def test_kernels_see_only_support(self):
        self.assertEqual(len(problems({"src/interp/kernels/ref/add.cpp": "mir/ir/type.hpp"})), 1)

    def test_private_headers_stay_in_their_layer(self):
        self.assertEqual(len(problems({"src/syntax/lexer.hpp": "", "src/ir/a.cpp": "lexer.hpp"})), 1)
        self.assertEqual(len(problems({"include/mir/syntax/a.hpp": "lexer.hpp"})), 1)

    def test_a_source_outside_every_layer_is_named(self):
        self.assertEqual(problems({"src/misc/a.cpp": ""}),
                         ["src/misc/a.cpp: lies in no layer's folder"])


if __name__ == "__main__":
    unittest.main()
