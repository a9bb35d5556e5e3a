#!/usr/bin/env python3
"""Medians of kernels and peers are printed side by side, with their shares of the limits."""

import io
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from bench_table import medians, show  # noqa: E402


def row(name, aggregate="median", **rates):
    return {"run_name": name, "aggregate_name": aggregate, **rates}


DOCUMENT = {
    "benchmarks": [
        row("limit/multiply-add/threads:1", FLOP=100e9),
        row("limit/read/threads:1", B=20e9),
        row("linear/2x3x4/Float32/threads:1", FLOP=80e9, B=5e9),
        row("linear/2x3x4/Float32/threads:1", "mean", FLOP=1e9),
        row("linear/2x3x4/Float32/OpenBLAS/threads:1", FLOP=60e9, B=4e9),
        row("linear/2x3x4/Float32/threads:2/real_time", FLOP=160e9),
        row("sum of rows/1x2/threads:1", B=30e9),
        {"run_name": "linear/2x3x4/Float32/threads:1", "repetitions": 3, "FLOP": 2e9},
    ]
}


class BenchTable(unittest.TestCase):
    def lines(self):
        out = io.StringIO()
        show(medians(DOCUMENT), out)
        return [line.split() for line in out.getvalue().splitlines()]

    def test_kernels_stand_beside_their_peers_and_limits(self):
        self.assertEqual(self.lines()[0][:4], ["work", "threads", "GFLOP/s", "OpenBLAS"])
        self.assertIn(["linear/2x3x4/Float32", "1", "80.0", "60.0", "80", "%", "5.0", "25", "%"],
                      self.lines())

    def test_one_repeat_is_its_own_median(self):
        rows = [{"run_name": "softmax/1x2/threads:1", "repetitions": 1, "B": 2e9}]
        self.assertEqual(medians({"benchmarks": rows}), {("softmax/1x2", 1): {"": (0, 2.0)}})

    def test_what_is_missing_is_a_dash(self):
        self.assertIn(["linear/2x3x4/Float32", "2", "160.0", "-", "-", "-", "-"], self.lines())
        self.assertIn(["sum", "of", "rows/1x2", "1", "-", "-", "-", "30.0", "150", "%"],
                      self.lines())


if __name__ == "__main__":
    unittest.main()
