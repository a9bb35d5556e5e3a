"""The table of build times counts each object once, at its last build, in its folder."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from build_table import folder_of, seconds_by_folder  # noqa: E402

LOG = """# ninja log v5
0\t9000\t1\tsrc/ir/libmir_ir.a.p/unity0.cpp.o\tabc
9000\t11000\t1\tsrc/ir/libmir_ir.a.p/unity0.cpp.o\tabc
9000\t9500\t1\tsrc/ir/libmir_ir.a\tabc
100\t1100\t1\ttools/mllm-fmt.p/main.cpp.o\tabc
0\t50\t1\tmeson-private/x.o\tabc
"""


class BuildTableTest(unittest.TestCase):
    def test_folders(self):
        self.assertEqual(folder_of("src/kernels/libfast.a.p/fast_rope.cpp.o"), "src/kernels")
        self.assertEqual(folder_of("tests/unit/ir/ir_test"), "tests/unit")
        self.assertEqual(folder_of("tools/mllm-fmt"), "tools")

    def test_the_last_build_of_each_output_counts(self):
        self.assertEqual(seconds_by_folder(LOG), {"src/ir": [2.0, 1, 0.5], "tools": [1.0, 1, 0.0]})


if __name__ == "__main__":
    unittest.main()
