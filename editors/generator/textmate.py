"""The TextMate grammar of Visual Studio Code, and the Sublime syntax of bat."""

import json

from rules import Include, Match, Region

SCOPES = {
    "comment": "comment.line.double-slash",
    "symbol": "entity.name.namespace",
    "op": "entity.name.function",
    "known op": "support.function",
    "label": "entity.name.label",
    "keyword": "constant.language",
    "string": "string.quoted",
    "operator": "keyword.operator",
    "value": "variable.other",
    "type": "storage.type",
    "element type": "support.type",
    "number": "constant.numeric",
    "word": "constant.other",
    "key": "entity.other.attribute-name",
    "macro": "entity.name.function.preprocessor",
}


def scope(colour):
    return f"{SCOPES[colour]}.mir"


def key(context):
    return context.replace(" ", "-")


def pattern(rule):
    if isinstance(rule, Include):
        return {"include": f"#{key(rule.context)}"}
    if isinstance(rule, Match):
        return {"name": scope(rule.colour), "match": rule.pattern}
    result = {"begin": rule.begin, "end": rule.end,
              "patterns": [{"include": f"#{key(each)}"} for each in rule.contents]}
    if rule.begin_colour:
        result["beginCaptures"] = {"0": {"name": scope(rule.begin_colour)}}
    if rule.end_colour:
        result["endCaptures"] = {"0": {"name": scope(rule.end_colour)}}
    return result


def grammar(contexts):
    return json.dumps({
        "name": "MLLM IR",
        "scopeName": "source.mir",
        "fileTypes": ["mir"],
        "patterns": [{"include": "#body"}],
        "repository": {key(name): {"patterns": [pattern(rule) for rule in rules]} for name, rules in contexts.items()},
    }, indent=2) + "\n"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def sublime_rule(rule, indent):
    pad = " " * indent
    if isinstance(rule, Include):
        return [f"{pad}- include: {key(rule.context)}"]
    if isinstance(rule, Match):
        return [f"{pad}- match: {quoted(rule.pattern)}", f"{pad}  scope: {scope(rule.colour)}"]
    lines = [f"{pad}- match: {quoted(rule.begin)}"]
    if rule.begin_colour:
        lines.append(f"{pad}  scope: {scope(rule.begin_colour)}")
    lines += [f"{pad}  push:", f"{pad}    - match: {quoted(rule.end)}"]
    if rule.end_colour:
        lines.append(f"{pad}      scope: {scope(rule.end_colour)}")
    lines.append(f"{pad}      pop: true")
    return lines + [f"{pad}    - include: {key(each)}" for each in rule.contents]


def sublime(contexts):
    lines = ["%YAML 1.2", "---", "name: MLLM IR", "file_extensions: [mir]", "scope: source.mir", "contexts:", "  main:",
             "    - include: body"]
    for name, rules in contexts.items():
        lines.append(f"  {key(name)}:")
        for rule in rules:
            lines += sublime_rule(rule, 4)
    return "\n".join(lines) + "\n"
