#!/usr/bin/env python3
"""Chat templates give the text that Jinja gives, with the settings of the reference library.

usage: templates.py RENDERER [COUNT]

RENDERER is the program of render_templates.cpp. COUNT expressions are generated. Without python3-jinja2 the test is
skipped.
"""
import copy
import datetime
import json
import subprocess
import sys
import warnings

try:
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.sandbox
except ImportError:
    jinja2 = None

import chat_templates
import expressions

NOW = 1722038400  # 2024-07-27 00:00 UTC
# Codes of what the toolkit refuses though Jinja computes it.
UNSUPPORTED, LIMIT = 631, 4


def environment():
    """The environment in which the reference library compiles templates."""

    class Generation(jinja2.ext.Extension):
        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return jinja2.nodes.Scope(body, lineno=line)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    result = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    result.filters["tojson"] = tojson
    result.globals["raise_exception"] = raise_exception
    now = datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc)
    result.globals["strftime_now"] = now.strftime
    return result


def reference(jinja, template, variables):
    """The text, or the error."""
    try:
        return jinja.from_string(template).render(**copy.deepcopy(variables)), None
    except Exception as error:  # of any kind: Python raises what an operation raises
        return None, f"{type(error).__name__}: {error}"


def cases(count):
    """Names, templates and variables; true if Jinja's result must be given."""
    for family, template in chat_templates.FAMILIES.items():
        for name, messages in chat_templates.CONVERSATIONS.items():
            for more in ({}, {"tools": chat_templates.TOOLS, "enable_thinking": False}, {"add_generation_prompt": False}):
                variables = {"messages": messages, "bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, **more}
                yield f"{family} {name}", template, variables, True
    for template in expressions.small_templates():
        yield template, template, expressions.VARIABLES, True
    for template in expressions.generated_templates(count):
        yield template, template, expressions.VARIABLES, False


def main():
    if jinja2 is None:
        print("skipped: needs python3-jinja2")
        return 77
    warnings.simplefilter("ignore")  # of Python about constant expressions
    jinja = environment()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    listed = list(cases(count))
    lines = "".join(json.dumps({"template": template, "variables": variables, "now": NOW}) + "\n"
                    for _, template, variables, _ in listed)
    process = subprocess.run([sys.argv[1]], input=lines.encode(), capture_output=True, check=True, timeout=300)
    results = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(results) == len(listed)
    problems, compared, unsupported, refused = [], 0, 0, 0
    for (name, template, variables, is_needed), ours in zip(listed, results):
        text, error = reference(jinja, template, variables)
        code = ours.get("code")
        if error is not None:
            refused += "error" in ours
            if "error" not in ours and is_needed and "generator" not in error:
                problems.append(f"{name}\n  text {ours['text']!r}, Jinja refuses: {error}")
        elif code == UNSUPPORTED:
            unsupported += 1
            if is_needed and "strftime" not in template:
                problems.append(f"{name}\n  {ours['error']}\n  Jinja: {text!r}")
        elif code is not None:
            problems.append(f"{name}\n  {ours['error']}\n  Jinja: {text!r}")
        elif ours["text"] != text:
            problems.append(f"{name}\n  text  {ours['text']!r}\n  Jinja {text!r}")
        else:
            compared += 1
    print(f"{len(listed)} templates: {compared} texts equal, {refused} refused by both, {unsupported} not supported, "
          f"{len(problems)} differ")
    for each in problems[:40]:
        print(each)
    return 1 if problems or compared < len(listed) // 3 else 0


if __name__ == "__main__":
    sys.exit(main())
