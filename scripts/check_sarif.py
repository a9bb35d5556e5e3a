#!/usr/bin/env python3
"""Holds SARIF logs to what the published schema of SARIF 2.1.0 demands of each object.

usage: check_sarif.py FILE...

Of every object that a log has: its required properties, no property that the schema does not know,
the words that are allowed, and numbers not below their minimum. Prints how many objects of each
kind there are; exits with 1 after naming every breach.
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Kind:
    """One definition of the schema: what concerns the objects that our tools write."""

    required: list[str] = field(default_factory=list)
    one_of: list[str] = field(default_factory=list)  # at least one of these (anyOf)
    objects: dict[str, str] = field(default_factory=dict)  # property: kind
    lists: dict[str, str] = field(default_factory=dict)  # property: kind of the elements
    words: dict[str, list[str]] = field(default_factory=dict)
    minimums: dict[str, int] = field(default_factory=dict)
    not_empty: list[str] = field(default_factory=list)  # minItems 1
    others: list[str] = field(default_factory=list)  # known properties without a rule here


LEVELS = ["none", "note", "warning", "error"]
SCHEMA = {
    "sarifLog": Kind(
        required=["version", "runs"],
        lists={"runs": "run"},
        words={"version": ["2.1.0"]},
        others=["$schema", "inlineExternalProperties"],
    ),
    "run": Kind(
        required=["tool"],
        objects={"tool": "tool"},
        lists={"results": "result", "invocations": "invocation"},
        words={"columnKind": ["utf16CodeUnits", "unicodeCodePoints"]},
        others=["artifacts", "originalUriBaseIds", "defaultEncoding", "language"],
    ),
    "tool": Kind(required=["driver"], objects={"driver": "toolComponent"}, others=["extensions"]),
    "toolComponent": Kind(
        required=["name"],
        lists={"rules": "reportingDescriptor", "notifications": "reportingDescriptor"},
        others=["version", "semanticVersion", "informationUri", "fullName", "organization"],
    ),
    "reportingDescriptor": Kind(
        required=["id"],
        objects={
            "shortDescription": "multiformatMessageString",
            "fullDescription": "multiformatMessageString",
            "help": "multiformatMessageString",
        },
        others=["name", "helpUri", "defaultConfiguration"],
    ),
    "multiformatMessageString": Kind(required=["text"], others=["markdown"]),
    "invocation": Kind(
        required=["executionSuccessful"],
        lists={
            "toolExecutionNotifications": "notification",
            "toolConfigurationNotifications": "notification",
        },
        others=["commandLine", "exitCode"],
    ),
    "notification": Kind(
        required=["message"],
        objects={"message": "message", "descriptor": "reportingDescriptorReference"},
        lists={"locations": "location"},
        words={"level": LEVELS},
    ),
    "reportingDescriptorReference": Kind(one_of=["index", "guid", "id"], minimums={"index": -1}),
    "result": Kind(
        required=["message"],
        objects={"message": "message"},
        lists={"locations": "location", "relatedLocations": "location", "fixes": "fix"},
        words={
            "level": LEVELS,
            "kind": ["notApplicable", "pass", "fail", "review", "open", "informational"],
        },
        minimums={"ruleIndex": -1},
        others=["ruleId", "partialFingerprints"],
    ),
    "message": Kind(one_of=["text", "id"], others=["markdown", "arguments"]),
    "location": Kind(
        objects={"physicalLocation": "physicalLocation", "message": "message"},
        minimums={"id": -1},
        others=["logicalLocations"],
    ),
    "physicalLocation": Kind(
        one_of=["address", "artifactLocation"],
        objects={
            "artifactLocation": "artifactLocation",
            "region": "region",
            "contextRegion": "region",
        },
    ),
    "artifactLocation": Kind(minimums={"index": -1}, others=["uri", "uriBaseId", "description"]),
    "region": Kind(
        objects={"snippet": "artifactContent"},
        minimums={
            "startLine": 1,
            "startColumn": 1,
            "endLine": 1,
            "endColumn": 1,
            "charOffset": -1,
            "charLength": 0,
            "byteOffset": -1,
            "byteLength": 0,
        },
    ),
    "fix": Kind(
        required=["artifactChanges"],
        objects={"description": "message"},
        lists={"artifactChanges": "artifactChange"},
        not_empty=["artifactChanges"],
    ),
    "artifactChange": Kind(
        required=["artifactLocation", "replacements"],
        objects={"artifactLocation": "artifactLocation"},
        lists={"replacements": "replacement"},
        not_empty=["replacements"],
    ),
    "replacement": Kind(
        required=["deletedRegion"],
        objects={"deletedRegion": "region", "insertedContent": "artifactContent"},
    ),
    "artifactContent": Kind(others=["text", "binary"]),
}


class Checker:
    def __init__(self):
        self.breaches: list[str] = []
        self.counts: Counter[str] = Counter()

    def refuse(self, path: str, what: str):
        self.breaches.append(f"{path}: {what}")

    def check(self, name: str, value, path: str):
        if not isinstance(value, dict):
            return self.refuse(path, f"is no object, expected a {name}")
        kind = SCHEMA[name]
        self.counts[name] += 1
        for key in kind.required:
            if key not in value:
                self.refuse(path, f"{name} lacks '{key}'")
        if kind.one_of and not any(key in value for key in kind.one_of):
            self.refuse(path, f"{name} has none of {', '.join(kind.one_of)}")
        for key, part in value.items():
            self.check_property(name, kind, key, part, f"{path}.{key}")

    def check_property(self, name: str, kind: Kind, key: str, part, path: str):
        if key == "properties":  # a property bag may hold anything
            if not isinstance(part, dict):
                self.refuse(path, "is no object")
        elif key in kind.objects:
            self.check(kind.objects[key], part, path)
        elif key in kind.lists:
            if not isinstance(part, list):
                return self.refuse(path, "is no array")
            if not part and key in kind.not_empty:
                self.refuse(path, "is empty")
            for i, element in enumerate(part):
                self.check(kind.lists[key], element, f"{path}[{i}]")
        elif key in kind.words:
            if part not in kind.words[key]:
                self.refuse(path, f"is {part!r}, expected one of {', '.join(kind.words[key])}")
        elif key in kind.minimums:
            if type(part) is not int or part < kind.minimums[key]:
                self.refuse(path, f"is {part!r}, expected {kind.minimums[key]} or more")
        elif key not in kind.others + kind.one_of + kind.required:
            self.refuse(path, f"{name} has no property '{key}'")

    def check_rules(self, log, path: str):
        """Beyond the schema: each result's rule is one that its run describes."""
        for run in log.get("runs", []):
            rules = {rule["id"] for rule in run["tool"]["driver"].get("rules", [])}
            for result in run.get("results", []):
                if result.get("ruleId") not in rules:
                    self.refuse(path, f"rule {result.get('ruleId')!r} is not described")


def main() -> int:
    checker = Checker()
    for name in sys.argv[1:]:
        log = json.loads(Path(name).read_text(encoding="utf-8"))
        checker.check("sarifLog", log, "log")
        if not checker.breaches:
            checker.check_rules(log, "log")
    for breach in checker.breaches:
        print(breach)
    for kind, count in sorted(checker.counts.items()):
        print(f"{count:6} {kind}")
    return 1 if checker.breaches or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
