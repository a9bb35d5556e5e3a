#!/usr/bin/env python3
"""Writes the small tokenizers that examples and tests use: trained here, from a few sentences.

usage: tiny_tokenizers.py ROOT

The same tokenizers in two forms, tokenizer.json and GGUF, give the same ids.
"""

import json
import re
import struct
import sys
from collections import Counter
from pathlib import Path

TEXT = """The model reads a prompt and writes the next token. The prompt is cut into tokens, and every token has an id.
A tokenizer that is small cuts words into many tokens; a larger one knows whole words. It's the model's choice, don't you
think? We'll see: 12 tokens, 345 tokens, 6789 tokens. In der Küche läuft das Wasser über. Le modèle écrit la suite.
Модель читает текст и пишет слова. 模型读取文本。 the the the token tokens tokenizer reads writes words
"""
GPT2 = r" ?[^\W\d_]+| ?\d+| ?[^\s\w]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")


def byte_letters():
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {**{byte: chr(byte) for byte in own}, **{byte: chr(256 + place) for place, byte in enumerate(others)}}


LETTERS = byte_letters()


def trained_merges(words, count):
    """Merges of the most frequent pairs; of equal ones the first in the order of strings."""
    parts = {word: list(word) for word in words}
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, number in words.items():
            for pair in zip(parts[word], parts[word][1:]):
                pairs[pair] += number
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for word, symbols in parts.items():
            place = 0
            while place + 1 < len(symbols):
                if (symbols[place], symbols[place + 1]) == best:
                    symbols[place:place + 2] = [best[0] + best[1]]
                place += 1
    return merges


def added(id, content, special=True, **flags):
    return {"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": special, **flags}


def document(model, tokens, **parts):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, "normalizer": None,
            "pre_tokenizer": None, "post_processor": None, "decoder": None, **parts, "model": model}


def template(before, after, ids):
    items = [{"SpecialToken": {"id": each, "type_id": 0}} for each in before]
    items += [{"Sequence": {"id": "A", "type_id": 0}}]
    items += [{"SpecialToken": {"id": each, "type_id": 0}} for each in after]
    return {"type": "TemplateProcessing", "single": items, "pair": items + items,
            "special_tokens": {each: {"id": each, "ids": [ids[each]], "tokens": [each]} for each in before + after}}


def bpe(vocabulary, merges, **others):
    return {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocabulary, "merges": merges, **others}


def byte_level():
    words = Counter("".join(LETTERS[byte] for byte in word.encode()) for word in re.findall(GPT2, TEXT))
    merges = trained_merges(words, 160)
    tokens = [LETTERS[byte] for byte in range(256)] + [a + b for a, b in merges]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    end = len(vocabulary)
    marks = ["<|begin|>", "<|end|>", "<|user|>", "<|model|>"]
    pre = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]}
    return document(bpe(vocabulary, [list(pair) for pair in merges], ignore_merges=True),
                    [added(end + place, mark) for place, mark in enumerate(marks)], pre_tokenizer=pre,
                    post_processor=template(["<|begin|>"], [], {"<|begin|>": end}),
                    decoder={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True})


def sentence_words():
    return Counter("\u2581" + word for word in re.findall(r"\S+", TEXT))


def sentence_piece():
    words = sentence_words()
    merges = trained_merges(words, 140)
    letters = sorted({letter for word in words for letter in word})
    tokens = ["<unk>", "<s>", "</s>", *("<0x%02X>" % byte for byte in range(256)), *(a + b for a, b in merges), *letters]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    normalizer = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    decoder = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
    return document(bpe(vocabulary, [f"{a} {b}" for a, b in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                    [added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")], normalizer=normalizer, decoder=decoder,
                    post_processor=template(["<s>"], [], vocabulary))


def unigram():
    words = sentence_words()
    pieces = Counter()
    for word, number in words.items():
        for begin in range(len(word)):
            for end in range(begin + 1, min(len(word), begin + 8) + 1):
                pieces[word[begin:end]] += number * (end - begin)
    common = [piece for piece, number in sorted(pieces.items(), key=lambda row: (-row[1], row[0])) if len(piece) == 1 or number > 9]
    vocabulary = [["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    vocabulary += [[piece, -2.0 - place / 32] for place, piece in enumerate(common)]
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False}
    return document({"type": "Unigram", "unk_id": 2, "vocab": vocabulary, "byte_fallback": False},
                    [added(0, "<pad>"), added(1, "</s>"), added(2, "<unk>")], pre_tokenizer=metaspace, decoder=metaspace,
                    post_processor=template([], ["</s>"], {"</s>": 1}))


def word_piece():
    words = Counter(re.findall(r"\w+|[^\w\s]", TEXT.lower()))
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({word[0] for word in words}),
              *sorted("##" + letter for letter in {letter for word in words for letter in word[1:]}),
              *(word for word, number in words.most_common(40) if len(word) > 1), "##ing", "##s", "##er", "##en"]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return document({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                     "max_input_chars_per_word": 100, "vocab": vocabulary},
                    [added(vocabulary[each], each) for each in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")],
                    normalizer={"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                                "strip_accents": None, "lowercase": True},
                    pre_tokenizer={"type": "BertPreTokenizer"},
                    post_processor=template(["[CLS]"], ["[SEP]"], vocabulary),
                    decoder={"type": "WordPiece", "prefix": "##", "cleanup": True})


# -- GGUF --------------------------------------------------------------------------------------------


def text_bytes(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf_value(value):
    """The number of the type and the bytes of a value."""
    if isinstance(value, bool):
        return 7, struct.pack("<B", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, str):
        return 8, text_bytes(value)
    if isinstance(value[0], str):
        return 9, struct.pack("<IQ", 8, len(value)) + b"".join(map(text_bytes, value))
    kind, letter = (6, "f") if isinstance(value[0], float) else (5, "i")
    return 9, struct.pack("<IQ", kind, len(value)) + struct.pack(f"<{len(value)}{letter}", *value)


def gguf(architecture, keys):
    pairs = {"general.architecture": architecture, **{f"tokenizer.ggml.{key}": value for key, value in keys.items()}}
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs))
    for key, value in pairs.items():
        kind, stored = gguf_value(value)
        out += text_bytes(key) + struct.pack("<I", kind) + stored
    return out + bytes(-len(out) % 32)


def token_types(tokens, special):
    return [2 if token == "<unk>" else 3 if token in special else 6 if re.fullmatch("<0x..>", token) else 1 for token in tokens]


def gguf_files(documents):
    def tokens_of(name):
        tokens = list(documents[name]["model"]["vocab"])
        special = {each["content"]: each["id"] for each in documents[name]["added_tokens"]}
        return tokens + [each for each in special if each not in tokens], special

    tokens, special = tokens_of("byte-level")
    yield "gpt2.gguf", gguf("llama", {"model": "gpt2", "pre": "llama-bpe", "tokens": tokens,
                                      "token_type": token_types(tokens, special),
                                      "merges": [" ".join(pair) for pair in documents["byte-level"]["model"]["merges"]],
                                      "bos_token_id": special["<|begin|>"], "eos_token_id": special["<|end|>"]})
    tokens, special = tokens_of("sentencepiece")
    ranks = {merge.replace(" ", ""): place for place, merge in enumerate(documents["sentencepiece"]["model"]["merges"])}
    scores = [-float(ranks.get(token, len(ranks))) for token in tokens]
    yield "llama.gguf", gguf("llama", {"model": "llama", "tokens": tokens, "scores": scores,
                                       "token_type": token_types(tokens, special)})
    pieces = documents["unigram"]["model"]["vocab"]
    tokens = [piece for piece, _ in pieces]
    yield "t5.gguf", gguf("t5", {"model": "t5", "tokens": tokens, "scores": [float(score) for _, score in pieces],
                                 "token_type": token_types(tokens, ["<pad>", "</s>"]), "eos_token_id": 1,
                                 "add_space_prefix": True, "unknown_token_id": 2})
    tokens, special = tokens_of("word-piece")
    words = [each if each in special else each[2:] if each.startswith("##") else "\u2581" + each for each in tokens]
    yield "bert.gguf", gguf("bert", {"model": "bert", "tokens": words, "token_type": token_types(tokens, special),
                                     "unknown_token_id": special["[UNK]"], "bos_token_id": special["[CLS]"],
                                     "seperator_token_id": special["[SEP]"]})


def main(root):
    documents = {"byte-level": byte_level(), "sentencepiece": sentence_piece(), "unigram": unigram(), "word-piece": word_piece()}
    data = Path(root) / "testdata/mllm-tokenize/data"
    example = Path(root) / "testdata/examples/tokenizer/tokenizer.json"
    for name, tokenizer in documents.items():
        file = example if name == "byte-level" else data / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    for name, contents in gguf_files(documents):
        (data / name).write_bytes(contents)


if __name__ == "__main__":
    main(*sys.argv[1:])
