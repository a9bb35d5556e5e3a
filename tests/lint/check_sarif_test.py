#!/usr/bin/env python3
"""Logs with one thing wrong are refused by scripts/check_sarif.py."""

import copy
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from check_sarif import Checker  # noqa: E402

REGION = {"startLine": 1, "startColumn": 2}
LOG = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "t", "rules": [{"id": "R"}]}},
            "results": [
                {
                    "ruleId": "R",
                    "level": "error",
                    "message": {"text": "m"},
                    "locations": [
                        {"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": REGION}}
                    ],
                    "fixes": [
                        {
                            "artifactChanges": [
                                {
                                    "artifactLocation": {"uri": "a"},
                                    "replacements": [{"deletedRegion": REGION}],
                                }
                            ]
                        }
                    ],
                }
            ],
        }
    ],
}


def breaches(change) -> list[str]:
    log = copy.deepcopy(LOG)
    change(log, log["runs"][0], log["runs"][0]["results"][0])
    checker = Checker()
    checker.check("sarifLog", log, "log")
    if not checker.breaches:
        checker.check_rules(log, "log")
    return checker.breaches


class CheckSarif(unittest.TestCase):
    def test_a_sound_log_has_no_breach(self):
        self.assertEqual(breaches(lambda log, run, result: None), [])

    def test_each_breach_is_found(self):
        changes = {
            "lacks 'version'": lambda log, run, result: log.pop("version"),
            "lacks 'tool'": lambda log, run, result: run.pop("tool"),
            "lacks 'name'": lambda log, run, result: run["tool"]["driver"].pop("name"),
            "lacks 'id'": lambda log, run, result: run["tool"]["driver"]["rules"][0].pop("id"),
            "lacks 'message'": lambda log, run, result: result.pop("message"),
            "has none of text, id": lambda log, run, result: result["message"].pop("text"),
            "is 'fatal'": lambda log, run, result: result.update(level="fatal"),
            "no property 'colour'": lambda log, run, result: result.update(colour="red"),
            "is empty": lambda log, run, result: result["fixes"][0].update(artifactChanges=[]),
            "expected 1 or more": lambda log, run, result: result["locations"][0][
                "physicalLocation"
            ]["region"].update(startLine=0),
            "is not described": lambda log, run, result: result.update(ruleId="S"),
        }
        for expected, change in changes.items():
            with self.subTest(expected):
                self.assertTrue(any(expected in each for each in breaches(change)))


if __name__ == "__main__":
    unittest.main()
