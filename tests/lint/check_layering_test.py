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
            lines = (text if text.startswith("<") else f'"{text}"' for text in included.split())
            (root / name).write_text("".join(f"#include {line}\n" for line in lines))
        return check_layering.check(root)


class LayeringTest(unittest.TestCase):
    def test_only_the_platform_includes_system_headers(self):
        self.assertEqual(problems({
            "src/support/platform/posix/threads.cpp": "<thread> <sys/mman.h> <csignal> <filesystem>",
            "src/ir/op.cpp": "<vector> <mutex> <stop_token> <fmt/format.h> <xxhash.h> <hwy/highway.h>",
            "tools/common/tool.cpp": "<filesystem> <boost/program_options/errors.hpp> <pcre2.h>",
        }), [])
        for path, included in [("src/ir/op.cpp", "thread"), ("src/ir/op.cpp", "filesystem"),
                               ("src/support/file_io.cpp", "unistd.h"), ("include/mir/op.hpp", "sys/stat.h"),
                               ("tools/common/tool.cpp", "csignal"), ("tools/common/tool.cpp", "stdlib.h")]:
            self.assertEqual(problems({path: f"<vector> <{included}>"}),
                             [f"{path}:2: <{included}> may be included in src/support/platform only"])

    def test_own_and_lower_layers_are_allowed(self):
        self.assertEqual(problems({
            "include/mir/op.hpp": "mir/type.hpp",
            "src/ir/op.cpp": "mir/op.hpp ir/use_list.hpp support/arena.hpp",
            "src/plan/nodes/add.cpp": "plan/nodes/nodes.hpp upgrade/steps/recovery.hpp mir/op.hpp",
            "grammar/lexer.re": "syntax/lexer.hpp",
            "tools/common/tool.cpp": "tool.hpp tools/common/page.hpp plan/schedule.hpp",
        }), [])

    def test_a_higher_layer_is_refused_with_its_line(self):
        self.assertEqual(
            problems({"src/passes/fold.cpp": "eval/evaluate.hpp plan/plan.hpp"}),
            ["src/passes/fold.cpp:2: layer 'passes' may not include 'plan/plan.hpp' of layer 'plan'"])

    def test_a_public_header_belongs_to_the_layer_of_the_source_of_its_name(self):
        session = {"src/interp/session.cpp": "mir/session.hpp"}
        self.assertEqual(problems({**session, "tools/mllm_interp.cpp": "mir/session.hpp"}), [])
        self.assertEqual(len(problems({**session, "src/ir/op.cpp": "mir/session.hpp"})), 1)

    def test_a_public_header_without_source_lies_as_high_as_what_it_includes(self):
        headers = {"include/mir/steps.hpp": "mir/session.hpp", "src/interp/session.cpp": "mir/session.hpp"}
        self.assertEqual(problems({**headers, "src/interp/probe.cpp": "mir/steps.hpp"}), [])
        self.assertEqual(len(problems({**headers, "src/ir/op.cpp": "mir/steps.hpp"})), 1)

    def test_an_installed_header_includes_no_internal_one(self):
        self.assertEqual(problems({"include/mir/op.hpp": "support/arena.hpp"}),
                         ["include/mir/op.hpp:1: an installed header may not include 'support/arena.hpp'"])

    def test_kernels_and_weights_know_tensors_only(self):
        for layer in ("kernels", "weights"):
            self.assertEqual(len(problems({f"src/{layer}/a.cpp": "syntax/token_text.hpp"})), 1)
            self.assertEqual(problems({f"src/{layer}/a.cpp": "support/arena.hpp"}), [])

    def test_folders_inside_a_layer_are_ordered(self):
        self.assertEqual(problems({
            "src/ir/op.cpp": "ir/context/row_checks.hpp ir/rewrite/bodies.hpp",
            "src/ir/context/type.cpp": "ir/op_table.hpp",
            "src/ir/rewrite/order.cpp": "ir/op_table.hpp ir/rewrite/bodies.hpp text/raise.hpp",
        }), [
            "src/ir/context/type.cpp:1: folder 'ir/context' may not include 'ir/op_table.hpp' of layer 'ir'",
            "src/ir/op.cpp:2: layer 'ir' may not include 'ir/rewrite/bodies.hpp' of folder 'ir/rewrite'",
            "src/ir/rewrite/order.cpp:3: layer 'ir' may not include 'text/raise.hpp' of layer 'text'"])

    def test_a_public_header_without_source_of_its_name_lies_with_the_sources_of_its_parts(self):
        parts = {"src/ir/rewrite/rewriter_ops.cpp": "mir/rewriter.hpp",
                 "src/ir/rewrite/rewriter_blocks.cpp": "mir/rewriter.hpp"}
        self.assertEqual(problems({**parts, "src/text/resolve.cpp": "mir/rewriter.hpp"}), [])
        self.assertEqual(len(problems({**parts, "src/ir/op.cpp": "mir/rewriter.hpp"})), 1)

    def test_a_source_outside_every_layer_is_named(self):
        self.assertEqual(problems({"src/misc/a.cpp": ""}),
                         ["src/misc/a.cpp: lies in no layer's folder"])


if __name__ == "__main__":
    unittest.main()
