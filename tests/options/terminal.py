#!/usr/bin/env python3
"""No text of others drives a terminal: every string that a tool is given, in every place, comes out harmless.

usage: terminal.py TOOLS

The strings are the arguments of all options (from the rows of the tools), commands, operands and names of files, and each
string and key of a pack's manifest, of sidecars, indexes, programs and dumps, of headers and metadata of weights, of
modules, pipelines and test cases. They hold escape sequences, bidirectional controls and a line that is forged. Each
command runs twice: on a terminal, and with its output redirected, where documents alone may repeat text byte by byte.
"""

import io
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import unicodedata
import zipfile
from pathlib import Path

import tool_rows
from tool_rows import TOOLS

HOSTILE = "ab\x1b[31m\u202e\u009b2J\u2066\u061c\u200b\x07\x7f\u2028\r\nforged line"
IN_A_NAME = HOSTILE.replace("\n", "")
MODULE = """@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[2], Float32, CPU>[@n.weight])[symbol:n.weight]
        }
    }
    linalg.CPU.RMSNormOp <name="n"> [epsilon:1e-06] (%x) -> (%y)
    dbg.CommentOp () -> ()[text:"WORD"]
    cf.ReturnOp (%y) -> ()
}
"""
# Commands whose output is a document: it may repeat its input.
DOCUMENTS = {"mllm-import", "mllm-parse", "mllm-opt", "mllm-fmt", "mllm-reduce", "mllm-run", "mllm-tokenize"}
BASE = {
    ("mllm-check", ""): ["a.test"],
    ("mllm-diff", ""): ["a.mir", "b.mir"],
    ("mllm-fmt", ""): ["a.mir"],
    ("mllm-interp", ""): ["a.mir", "--input=x=x.npy", "--weights=w.safetensors"],
    ("mllm-import", ""): ["m"],
    ("mllm-lsp", ""): [],
    ("mllm-opt", ""): ["-p", "simplify", "a.mir"],
    ("mllm-pack", "create"): ["create", "a.mir"],
    ("mllm-pack", "check"): ["check", "p.mirz"],
    ("mllm-pack", "list"): ["list", "p.mirz"],
    ("mllm-pack", "extract"): ["extract", "p.mirz"],
    ("mllm-parse", ""): ["a.mir"],
    ("mllm-reduce", ""): ["a.mir", "--reports=MIR0500"],
    ("mllm-run", ""): ["m", "--tokenizer=t.json", "--prompt=a"],
    ("mllm-tokenize", ""): ["--tokenizer=t.json", "a.mir"],
    ("mllm-weights", "convert"): ["convert", "w.safetensors"],
    ("mllm-weights", "diff"): ["diff", "w.safetensors", "w.safetensors"],
    ("mllm-weights", "invent"): ["invent", "a.mir"],
    ("mllm-weights", "list"): ["list", "w.safetensors"],
    ("mllm-weights", "match"): ["match", "a.mir", "w.safetensors"],
    ("mllm-weights", "plan"): ["plan", "a.mir", "w.safetensors", "--input=x=x.npy", "--candidate=bf16"],
    ("mllm-weights", "stats"): ["stats", "w.safetensors"],
}


def is_harmful(c):
    return c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") or
                               (unicodedata.category(c) == "Cf" and c != "\u00ad"))


def problem_with(output):
    """What is in an output that could drive a terminal."""
    text = re.sub(rb"\r\d+/\d+[ a-zA-Z]*|\r\x1b\[K", b"", output).decode("utf-8", "surrogateescape")
    for line in text.split("\n"):
        if line.startswith("forged line"):
            return "a forged line"
        for c in line:
            if is_harmful(c):
                return f"{c!r} in {line[:100]!r}"
    return ""


class Checker:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.count, self.problems = 0, []

    def run(self, what, words):
        """Runs the command in a folder of its own files."""
        words = [word.encode("utf-8", "surrogateescape") for word in words]
        words[0] = words[0].decode()
        _, shown = tool_rows.run_on_terminal(self.tools, words, self.folder)
        _, output, errors = tool_rows.run(self.tools, words, self.folder)
        self.count += 1
        for where, text in [("on a terminal", shown), ("standard error", errors),
                            ("standard output", b"" if words[0] in DOCUMENTS else output)]:
            if problem := problem_with(text):
                self.problems.append(f"{what}, {where}: {problem}: {words}")
                return


# -- command lines ---------------------------------------------------------------------------------


def check_rows(checker):
    # Rows share the code that reads their arguments. Unless all is asked for, each row gets an eighth of the values,
    # the next row the next eighth.
    parts = 1 if os.environ.get("MIR_TEST_SHARE") == "long" else 8
    for number, row in enumerate(tool_rows.all_rows(checker.tools)):
        base = [row.tool, *BASE[row.tool, row.command]]
        needs_output = (row.tool, row.command) in [("mllm-pack", "create"), ("mllm-pack", "extract"),
                                                   ("mllm-weights", "convert"), ("mllm-weights", "invent")]
        if needs_output and row.name != "output":
            base += ["-o", "out.safetensors" if row.tool == "mllm-weights" else "out"]
        if row.argument is None:
            checker.run(row, [*base, f"--{row.name}={HOSTILE}"])
            continue
        values = [HOSTILE, f"{HOSTILE}=1", f"x={HOSTILE}", f"%y={HOSTILE}.npy", f"{HOSTILE}.npy", f"{HOSTILE}:1",
                  f"T=@{HOSTILE}", f"@{HOSTILE}*2", f"{HOSTILE}*2", f"%{HOSTILE}", f"x=%{HOSTILE}", f"x=${HOSTILE}",
                  f"{HOSTILE}@input0:0", f"{HOSTILE}.axis=1", f"{HOSTILE}=q8_0", f"simplify,{HOSTILE}",
                  f"simplify{{{HOSTILE}=1}}", f"{IN_A_NAME}.safetensors", f"{IN_A_NAME}.json", f"{HOSTILE}:exact",
                  f"exact,{HOSTILE}", f"random:{HOSTILE}"]
        for value in values[number % parts::parts]:
            checker.run(row, [*base, f"--{row.name}={value}"])


def check_words(checker):
    for tool in TOOLS:
        checker.run("an unknown option", [tool, f"--{HOSTILE}"])
        checker.run("an unknown option", [tool, f"--{HOSTILE}=1"])
        checker.run("an operand", [tool, HOSTILE, HOSTILE])
        checker.run("an operand", [tool, "a.mir", HOSTILE])
    for (tool, _), words in BASE.items():
        for at, word in enumerate(words):
            if word.startswith("-") or not (checker.folder / word).is_file():
                continue
            odd = IN_A_NAME + Path(word).suffix
            shutil.copy(checker.folder / word, checker.folder / odd)
            for name in [odd, HOSTILE + Path(word).suffix]:
                changed = [*words[:at], name, *words[at + 1:]]
                more = ["-o", "out.safetensors"] if tool == "mllm-weights" and words[0] == "convert" else \
                    ["-o", "out"] if words[0] in ("create", "extract") else []
                checker.run("a file's name", [tool, *changed, *more])


# -- files -----------------------------------------------------------------------------------------


def variants(value):
    """The JSON value with each of its strings and keys made hostile in turn, and with one key more."""
    if isinstance(value, str):
        yield HOSTILE
        yield value + HOSTILE
    elif isinstance(value, (int, float)) or value is None:
        yield HOSTILE
    elif isinstance(value, list):
        for at, each in enumerate(value):
            for changed in variants(each):
                yield [*value[:at], changed, *value[at + 1:]]
        yield [*value, HOSTILE]
    elif isinstance(value, dict):
        for key, each in value.items():
            for changed in variants(each):
                yield {**value, key: changed}
            yield {(HOSTILE if name == key else name): entry for name, entry in value.items()}
            yield {(name + HOSTILE if name == key else name): entry for name, entry in value.items()}
        yield {**value, HOSTILE: HOSTILE}


def check_json(checker, name, document, commands):
    for changed in variants(document):
        (checker.folder / name).write_text(json.dumps(changed))
        for words in commands:
            checker.run(name, words)
    (checker.folder / name).write_text('{"' + HOSTILE)
    for words in commands:
        checker.run(name, words)


def write_safetensors(path, header):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(8))


def check_weights(checker):
    folder = checker.folder
    header = {"__metadata__": {"key": "value"}, "n.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}

    def run_all(name):
        for words in [["mllm-weights", "list", "--show-metadata", name], ["mllm-weights", "stats", name],
                      ["mllm-weights", "diff", name, "w.safetensors"], ["mllm-weights", "diff", "w.safetensors", name],
                      ["mllm-weights", "match", "a.mir", name], ["mllm-weights", "convert", name, "-o", "out.gguf"],
                      ["mllm-weights", "convert", name, "-o", "out.npz", "--dtype=f16"],
                      ["mllm-interp", "a.mir", "--input=x=x.npy", "-w", name], ["mllm-parse", name],
                      ["mllm-pack", "create", "a.mir", "-w", name, "-o", "out.mirz"], ["mllm-pack", "list", name]]:
            checker.run(name, words)

    for changed in variants(header):
        write_safetensors(folder / "odd.safetensors", changed)
        run_all("odd.safetensors")
    write_safetensors(folder / "odd.safetensors", {**header, HOSTILE: header["n.weight"]})
    # Writers refuse such names, so others of the same length are replaced.
    size = len(HOSTILE.encode())
    name, text, key = "n" * size, "t" * size, "k" * size
    for ending in ["gguf", "mllm", "npz"]:
        metadata = {"gguf": [f"--metadata={key}={text}"], "mllm": [f"--metadata=model_name={text}"], "npz": []}
        code, _, errors = tool_rows.run(
            checker.tools, ["mllm-weights", "convert", "w.safetensors", f"--rename=n.weight={name}", "-o",
                            f"odd.{ending}", *metadata[ending]], folder)
        assert code == 0, errors.decode()
        content = (folder / f"odd.{ending}").read_bytes()
        for old in [name, text, key]:
            content = content.replace(old.encode(), HOSTILE.encode())
        assert content.count(HOSTILE.encode()) >= {"gguf": 3, "mllm": 2, "npz": 1}[ending]
        (folder / f"odd.{ending}").write_bytes(content)
        run_all(f"odd.{ending}")
    with zipfile.ZipFile(folder / "odd.npz", "w") as archive:
        for name in [HOSTILE, f"{HOSTILE}.npy", f"{HOSTILE}/", f"../{HOSTILE}.npy"]:
            archive.writestr(name, (folder / "x.npy").read_bytes())
    run_all("odd.npz")
    checker.run("odd.npz", ["mllm-interp", "a.mir", "--input=x=odd.npz:y"])
    (folder / "odd.npy").write_bytes(b"\x93NUMPY\x01\0\x76\0" + f"{{'descr': '{IN_A_NAME}'}}".encode().ljust(118))
    checker.run("odd.npy", ["mllm-interp", "a.mir", "--input=x=odd.npy"])
    check_json(checker, "index.json", {"metadata": {"total_size": 8}, "weight_map": {"n.weight": "w.safetensors"}},
               [["mllm-weights", "list", "index.json"], ["mllm-interp", "a.mir", "--input=x=x.npy", "-w", "index.json"]])


def check_pack(checker):
    folder = checker.folder
    with zipfile.ZipFile(folder / "p.mirz") as pack:
        members = {name: pack.read(name) for name in pack.namelist()}
    manifest = json.loads(members["manifest.json"])
    # Each field that a run takes has a string to be changed.
    for changed in variants(manifest):
        for rename in [False, True]:
            with zipfile.ZipFile(folder / "odd.mirz", "w") as pack:
                for name, content in {**members, "manifest.json": json.dumps(changed).encode()}.items():
                    is_renamed = rename and name != "manifest.json" and isinstance(changed, dict)
                    listed = [each.get("name", name) for each in changed.get("members", []) if isinstance(each, dict)]
                    names = [each for each in listed if isinstance(each, str) and each not in members]
                    pack.writestr(names[0] if is_renamed and names and name not in listed else name, content)
            for words in [["mllm-interp", "odd.mirz"], ["mllm-pack", "list", "odd.mirz"], ["mllm-pack", "check", "odd.mirz"],
                          ["mllm-pack", "extract", "odd.mirz", "-o", "out"], ["mllm-parse", "odd.mirz"]]:
                checker.run("a manifest", words)


def check_texts(checker):
    """Modules, pipelines and test cases: each word is made hostile in turn."""
    folder = checker.folder
    words = [match.span() for match in re.finditer(r"[A-Za-z_.]+", MODULE)]
    for begin, end in words:
        for text in [HOSTILE, f'"{HOSTILE}"', f'"{IN_A_NAME}"', json.dumps(HOSTILE)]:
            (folder / "odd.mir").write_bytes((MODULE[:begin] + text + MODULE[end:]).encode())
            for command in [["mllm-parse", "odd.mir"], ["mllm-interp", "odd.mir", "--input=x=x.npy", "-w", "random:1"],
                            ["mllm-diff", "a.mir", "odd.mir"], ["mllm-weights", "match", "odd.mir", "w.safetensors"]]:
                checker.run("a module", command)
    at = MODULE.index("WORD")
    for text in [IN_A_NAME, json.dumps(HOSTILE)[1:-1]]:
        (folder / "odd.mir").write_bytes((MODULE[:at] + text + MODULE[at + 4:]).encode())
        for command in [["mllm-parse", "--emit=ir", "odd.mir"], ["mllm-parse", "--emit=ir", "--format=json", "odd.mir"],
                        ["mllm-parse", "--emit=dot", "odd.mir"], ["mllm-parse", "--emit=stats", "odd.mir"],
                        ["mllm-parse", "--emit=tokens", "odd.mir"], ["mllm-parse", "--emit=syntax", "odd.mir"],
                        ["mllm-opt", "-p", "simplify", "odd.mir"], ["mllm-fmt", "odd.mir"], ["mllm-fmt", "--diff", "odd.mir"],
                        ["mllm-opt", "-p", "simplify", "--print-before=all", "odd.mir"],
                        ["mllm-diff", "--format=json", "a.mir", "odd.mir"], ["mllm-diff", "--stat", "a.mir", "odd.mir"],
                        ["mllm-diff", "a.mir", "odd.mir"], ["mllm-interp", "odd.mir", "--describe"],
                        ["mllm-interp", "odd.mir", "--describe", "--format=json"]]:
            checker.run("a string of a module", command)
    for text in [HOSTILE, f"simplify,{HOSTILE}", f"simplify{{{HOSTILE}}}", f"simplify{{a={HOSTILE}}}"]:
        (folder / "odd.txt").write_bytes(text.encode())
        checker.run("a pipeline", ["mllm-opt", "-p", "@odd.txt", "a.mir"])
    for text in [f"// RUN: printf '{IN_A_NAME}'\n// CHECK: x\n", f"// RUN: {IN_A_NAME}\n", f"// EXIT: {IN_A_NAME}\n",
                 f"// RUN: printf a\n// CHECK: {IN_A_NAME}\n// CHECK: {{{{{IN_A_NAME}(}}}}\n",
                 f"// RUN: cat {IN_A_NAME} >&2\n"]:
        (folder / "odd.test").write_bytes(text.encode())
        checker.run("a case", ["mllm-check", "odd.test"])
        checker.run("a case", ["mllm-check", "--format=tap", "odd.test"])
        checker.run("a case", ["mllm-check", "--input=a.mir", "odd.test"])


def main(tools):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.mir").write_text(MODULE)
        (folder / "b.mir").write_text(MODULE.replace("WORD", "other"))
        (folder / "a.test").write_text("// RUN: true\n")
        (folder / "t.json").write_text(tool_rows.TOKENIZER)
        (folder / "m").mkdir()
        (folder / "m/config.json").write_text(tool_rows.CONFIG)
        write_safetensors(folder / "w.safetensors", {"n.weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})
        for words in [["mllm-interp", "a.mir", "--input=iota", "-w", "w.safetensors", "-o", "x.npy", "--dump=dump"],
                      ["mllm-pack", "create", "a.mir", "-w", "w.safetensors", "-i", "x=x.npy", "-o", "p.mirz",
                       "--expect=y=x.npy", "--tolerance=abs=1", "--then=1", "--feed=x=%y", "--module=main"]]:
            code, _, errors = tool_rows.run(tools, words, folder)
            assert code == 0, errors.decode()
        checker = Checker(tools, folder)
        check_rows(checker)
        check_words(checker)
        check_weights(checker)
        check_pack(checker)
        check_texts(checker)
        sidecar = {"schema": 1, "assume": ["rms_eps=1"], "constants": {"6": [1.0]},
                   "ops": {"a": {"attributes": {"k": "v"}, "operands": {"1": "%x:tensor<[1], Int32, CPU>"}, "name": "n"}}}
        check_json(checker, "sidecar.json", sidecar,
                   [["mllm-opt", "-p", "upgrade", "--sidecar=sidecar.json", "a.mir"],
                    ["mllm-interp", "--sidecar=sidecar.json", "a.mir", "--input=x=x.npy", "-w", "w.safetensors"]])
        (folder / "ids.txt").write_text("0 1 2")
        # Decoded text is not among these: it has lines of its own.
        check_json(checker, "tokenizer.json", json.loads(tool_rows.TOKENIZER),
                   [["mllm-tokenize", "--tokenizer=tokenizer.json", *words]
                    for words in (["a.mir"], ["--vocabulary"], ["--decode", "--format=json", "ids.txt"], ["--format=table", "a.mir"],
                                  ["--format=json", "a.mir"])])
        check_json(checker, "dump/index.json", json.loads((folder / "dump/index.json").read_text()),
                   [["mllm-interp", "a.mir", "--input=x=x.npy", "-w", "w.safetensors", "--against=dump"]])
        print(*checker.problems[:40], f"{checker.count} commands, {len(checker.problems)} problems", sep="\n")
        return 1 if checker.problems or checker.count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
