"""Edits of a model as a person makes them, and the findings that each editor must show after each of them."""

import json
import subprocess

REGISTER = ("            tensor.CPU.register () -> (%2:tensor<[64, 16], Float32, CPU>[@rope.cos.weight])"
            "[symbol:rope.cos.weight]\n")
# What is done, a text and what replaces its first occurrence. The last text is the first one.
EDITS = [
    ("misspell an op", "linalg.CPU.RMSNormOp <", "linalg.CPU.RMSNrmOp <"),
    ("apply the fix", "linalg.CPU.RMSNrmOp <", "linalg.CPU.RMSNormOp <"),
    ("begin an op on a new line", "    linalg.CPU.EmbeddingOp", "    linalg.CPU.Si\n    linalg.CPU.EmbeddingOp"),
    ("make it a comment with characters of several bytes", "    linalg.CPU.Si\n", "    // naïve 𝛼 \"text\"\n"),
    ("rename a definition and not its uses", "(%44:tensor", "(%444:tensor"),
    ("rename it back", "(%444:tensor", "(%44:tensor"),
    ("delete a parenthesis", "[epsilon:1e-06] (%37", "[epsilon:1e-06] %37"),
    ("write it again", "[epsilon:1e-06] %37", "[epsilon:1e-06] (%37"),
    ("close a brace too many", "    graph.SubGraphOp @model <", "    }\n    graph.SubGraphOp @model <"),
    ("remove it", "    }\n    graph.SubGraphOp @model <", "    graph.SubGraphOp @model <"),
    ("delete the brace of a graph", "@model.layers.0 <CPU> {", "@model.layers.0 <CPU>"),
    ("write it again", "@model.layers.0 <CPU>", "@model.layers.0 <CPU> {"),
    ("misspell an element type", "Float32, CPU>[@rope.sin", "Flot32, CPU>[@rope.sin"),
    ("correct it", "Flot32, CPU>[@rope.sin", "Float32, CPU>[@rope.sin"),
    ("paste two lines", "            cf.ReturnOp (%39", "            // one\n            // two\n            cf.ReturnOp (%39"),
    ("delete the line of a parameter", REGISTER, ""),
    ("put it elsewhere", "            tensor.CPU.register () -> (%3:", REGISTER + "            tensor.CPU.register () -> (%3:"),
    ("set an attribute to another type", "bias:false", "bias:maybe"),
    ("set it back", "bias:maybe", "bias:false"),
    ("call a graph that does not exist", "@model.layers.0.mlp (", "@model.layers.0.mpl ("),
    ("call the right one", "@model.layers.0.mpl (", "@model.layers.0.mlp ("),
    ("leave a string open", '<name="lm_head">', '<name="lm_head>'),
    ("close it", '<name="lm_head>', '<name="lm_head">'),
    ("remove the pasted lines", "            // one\n            // two\n", ""),
    ("remove the comment", "    // naïve 𝛼 \"text\"\n", ""),
]


def place_of(text, offset):
    """Line and column from 0, in characters."""
    begin = text.rfind("\n", 0, offset) + 1
    return {"line": text.count("\n", 0, offset), "column": offset - begin}


def findings_of(parse, text, folder):
    """What mllm-parse finds in a text: lines from 0 and messages."""
    path = folder / "edited.mir"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([parse, "--diagnostics=json", "--max-errors=0", path], capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return sorted([each["line"] - 1, each["message"]] for each in found)


def steps(parse, text, folder):
    """The edits with their places and the findings after them."""
    made, first = [], text
    for title, old, new in EDITS:
        begin = text.index(old)
        step = {"title": title, "begin": place_of(text, begin), "end": place_of(text, begin + len(old)), "text": new}
        text = text[:begin] + new + text[begin + len(old):]
        made.append({**step, "findings": findings_of(parse, text, folder)})
    assert text == first, "the edits do not end where they began"
    assert sum(bool(step["findings"]) for step in made) >= 10, "most edits make no mistake"
    return made
