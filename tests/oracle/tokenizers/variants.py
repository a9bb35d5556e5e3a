"""Small tokenizers that show what each normalizer, pre-tokenizer, decoder and added token does.

The models have a token for each character, another one for each character that ends a piece, and a few merges. So the ids
show both the normalised text and where it was cut.
"""

import base64
import struct

ALPHABET = sorted(set(
    "abcdefgxyzABCDEFGXYZ0123456789 \t\n\r.,!?'-_$+<>=|~#/\u2581\u00a0\u0085\u3000\u200b\ufeff\u00e9\u00c9\u0130\u03a3\u03c3\u0301\u0327\u00bd"
    "\u216b\ufb01\u0915\u093e\u094d\u0937\u0e01\u0e34\uac00\u1100\u1161\u4e2d\u6587\u3042\uff21\u00df\u1e9e\u01c5\u017f\u0660\u0967\u20ac\u00ab"
    "\u300c\u180e\u00ad\u24b6\U0001f600\U0001f468\u200d\U0001f3fd\ue000\u0378i\u0307h1fio2\u2044s"))
WORDS = ["ab", "abc", "bc", "xy", "xyz", "AB", "12", "\u4e2d\u6587"]


def charsmap(pairs):
    """`precompiled_charsmap` of strings and their replacements: a double-array trie, then the replacements."""
    texts, offsets = b"", {}
    for key, value in pairs.items():
        offsets[key.encode()] = len(texts)
        texts += value.encode() + b"\0"
    units, used = {0: 0}, {0}

    def place(node, keys, depth):
        labels = sorted({key[depth] if len(key) > depth else 0 for key in keys})
        base = 1
        while any((base ^ label) in used for label in labels) or base in used:
            base += 1
        assert base < 1 << 21
        used.update(base ^ label for label in labels)
        used.add(base)
        leaf = 0 in labels
        units[node] = units.get(node, 0) | ((base ^ node) << 10) | (leaf << 8)
        if leaf:
            units[base] = 0x80000000 | next(offsets[key] for key in keys if len(key) == depth)
        for label in labels:
            if label:
                child = base ^ label
                units[child] = label
                place(child, [key for key in keys if len(key) > depth and key[depth] == label], depth + 1)

    place(0, sorted(offsets), 0)
    array = [units.get(i, 0) for i in range(max(used) + 256)]
    return base64.b64encode(struct.pack(f"<I{len(array)}I", 4 * len(array), *array) + texts).decode()


CHARSMAP = charsmap({"\u216b": "XII", "\ufb01": "fi", "\u00a0": " ", "e\u0301": "\u00e9", "\u00ad": "", "\uff21": "A", "a": "b",
                     "\u0915": "x", "\t": " "})


def nothing(kind, **others):
    return {"type": kind, **others}


def replace(pattern, content, kind="String"):
    return nothing("Replace", pattern={kind: pattern}, content=content)


def split(pattern, behavior, invert=False, kind="Regex"):
    return nothing("Split", pattern={kind: pattern}, behavior=behavior, invert=invert)


NORMALIZERS = [
    nothing("NFC"), nothing("NFD"), nothing("NFKC"), nothing("NFKD"), nothing("Lowercase"), nothing("Nmt"),
    nothing("Strip", strip_left=True, strip_right=True), nothing("Strip", strip_left=True, strip_right=False),
    nothing("Strip", strip_left=False, strip_right=True), nothing("StripAccents"),
    nothing("Sequence", normalizers=[nothing("NFD"), nothing("StripAccents")]),
    replace(" ", "\u2581"), replace("ab", ""), replace(r"\s+", "-", "Regex"), replace(r"[^\S\n]", "_", "Regex"),
    replace(r"(?m).\w", "#", "Regex"), replace(r"^|$", "|", "Regex"), replace(r"\b", "/", "Regex"),
    replace(r"x{,2}y", "<", "Regex"), replace(r"[\p{L}&&[^a-z]]+", ".", "Regex"), replace(r"\h", "h", "Regex"),
    replace(r"[[:space:]x]", "~", "Regex"), replace(r"\p{Han}|\p{^L}", "c", "Regex"), replace(r"(?i)s\u017f?", "!", "Regex"),
    nothing("Prepend", prepend="\u2581"), nothing("Precompiled", precompiled_charsmap=CHARSMAP),
    *(nothing("BertNormalizer", clean_text=clean, handle_chinese_chars=clean, strip_accents=accents, lowercase=lower)
      for clean in (True, False) for accents in (None, True, False) for lower in (True, False)),
]
REGEXES = [r"'s|'t| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", r"\p{N}{1,3}", r"\w+", r"[^\w\s]", r"(?i:'s|ab)", r"x*"]
PRE_TOKENIZERS = [
    *(split(pattern, behavior, invert) for pattern in REGEXES for invert in (False, True)
      for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")),
    *(split(pattern, behavior, False, "String") for pattern in (" ", "ab", ".")
      for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")),
    nothing("Whitespace"), nothing("WhitespaceSplit"), nothing("BertPreTokenizer"),
    nothing("Digits", individual_digits=True), nothing("Digits", individual_digits=False),
    *(nothing("Punctuation", behavior=each) for each in ("Isolated", "Removed", "MergedWithPrevious", "Contiguous")),
    *(nothing("Metaspace", replacement="\u2581", prepend_scheme=scheme, split=splits)
      for scheme in ("always", "first", "never") for splits in (True, False)),
    nothing("Metaspace", replacement="_", add_prefix_space=True), nothing("CharDelimiterSplit", delimiter="-"),
    nothing("Sequence", pretokenizers=[nothing("WhitespaceSplit"), nothing("Digits", individual_digits=True)]),
    nothing("Sequence", pretokenizers=[nothing("Punctuation"),
                                       nothing("Metaspace", replacement="\u2581", prepend_scheme="first")]),
]
DECODERS = [
    nothing("Fuse"), nothing("WordPiece", prefix="##", cleanup=True), nothing("WordPiece", prefix="a", cleanup=False),
    nothing("BPEDecoder", suffix="</w>"), nothing("Metaspace", replacement="\u2581", prepend_scheme="always"),
    nothing("Metaspace", replacement="\u2581", prepend_scheme="never"), nothing("ByteFallback"),
    # The reference ends with a panic where a text is shorter than `stop`.
    *(nothing("Sequence", decoders=[nothing("Fuse"), nothing("Strip", content="a", start=start, stop=0)]) for start in (1, 2)),
    nothing("Sequence", decoders=[replace("</w>", " "), nothing("ByteFallback"), nothing("Fuse")]),
    nothing("Sequence", decoders=[nothing("Fuse"), replace(r"a+", "<>", "Regex")]),
    nothing("ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True),
]
FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]


def added_tokens(vocabulary, numbers):
    """Tokens with every combination of flags, of contents that overlap. Ids are those that the reference gives."""
    contents = ["<s>", "ab", "abc", " x", "AB", "1", "\u00e9", "<s>a"]
    for place, number in enumerate(numbers):
        flags = {name: bool(number >> bit & 1) for bit, name in enumerate(FLAGS)}
        content = contents[place % len(contents)]
        yield {"id": vocabulary.setdefault(content, len(vocabulary)), "content": content, **flags}


def character_model(**others):
    """BPE over characters; one that ends a piece is another token."""
    vocabulary = {"<unk>": 0}
    for word in [*ALPHABET, *("<0x%02X>" % byte for byte in range(256)), *WORDS]:
        vocabulary.setdefault(word, len(vocabulary))
        vocabulary.setdefault(word + "</w>", len(vocabulary))
    merges = [f"{word[:-1]} {word[-1]}{end}" for word in WORDS for end in ("", "</w>")]
    return {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": "</w>",
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocabulary, "merges": merges, **others}


def tokenizer(model=None, **parts):
    document = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                "pre_tokenizer": None, "post_processor": None, "decoder": None, "model": model or character_model()}
    return {**document, **parts}


def unigram_model(byte_fallback):
    pieces = [["<unk>", 0.0]]
    scores = {"ab": -2.5, "abc": -3.0, "bc": -2.0, "a": -1.5, "b": -1.25, "c": -1.75, "\u2581": -2.0, "\u2581a": -2.5, "xyz": -4.0,
              "x": -2.0, "\u4e2d\u6587": -3.5, "1": -2.0, "12": -4.0, "2": -2.0}
    pieces += [[text, score] for text, score in scores.items()]
    if byte_fallback:
        pieces += [["<0x%02X>" % byte, -9.0] for byte in range(256)]
    return {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": byte_fallback}


def variants():
    """Names and tokenizers."""
    for number, each in enumerate(NORMALIZERS):
        yield f"normalizer {number} {each['type']}", tokenizer(normalizer=each)
    for number, each in enumerate(PRE_TOKENIZERS):
        yield f"pre-tokenizer {number} {each['type']}", tokenizer(pre_tokenizer=each)
    for number, each in enumerate(DECODERS):
        yield f"decoder {number} {each['type']}", tokenizer(decoder=each)
    for number in range(0, 32):
        yield f"added tokens {number}", tokenizer(
            added_tokens=list(added_tokens(character_model()["vocab"], [number, number ^ 5, number ^ 9, number ^ 18, 31 - number, 0, 8, number])),
            normalizer=nothing("Lowercase") if number % 2 else None,
            pre_tokenizer=nothing("Metaspace", replacement="\u2581", prepend_scheme="first"))
    for fuses in (False, True):
        for falls_back in (False, True):
            model = character_model(fuse_unk=fuses, byte_fallback=falls_back, end_of_word_suffix=None)
            yield f"fuse_unk {fuses}, byte_fallback {falls_back}", tokenizer(model, decoder=nothing("ByteFallback"))
    yield "ignore_merges", tokenizer(character_model(ignore_merges=True, merges=[], end_of_word_suffix=""),
                                     pre_tokenizer=nothing("Whitespace"))
    for falls_back in (False, True):
        yield f"Unigram, byte_fallback {falls_back}", tokenizer(
            unigram_model(falls_back), pre_tokenizer=nothing("Metaspace", replacement="\u2581", prepend_scheme="always"),
            normalizer=nothing("Precompiled", precompiled_charsmap=CHARSMAP),
            decoder=nothing("Metaspace", replacement="\u2581", prepend_scheme="always"))
    words = {"[UNK]": 0, "ab": 1, "a": 2, "##b": 3, "##bc": 4, "xyz": 5, "##c": 6, "1": 7, "##2": 8, "12": 9, "!": 10}
    yield "WordPiece", tokenizer({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                                  "max_input_chars_per_word": 5, "vocab": words}, pre_tokenizer=nothing("Whitespace"))
    yield "WordLevel", tokenizer({"type": "WordLevel", "unk_token": "[UNK]", "vocab": words},
                                 pre_tokenizer=nothing("Whitespace"))


def texts(draw, count):
    """Texts of the characters of the models."""
    made = ["", " ", "a", "ab", " ab  abc\n", "a<s> b", "ab</s>abc", "<s>a<s> ab 1", "don't AB'S 12345", "\u4e2d\u6587 tokyo"]
    while len(made) < count:
        parts = [draw.choice(WORDS) if draw.random() < 0.3 else draw.choice(ALPHABET) for _ in range(draw.randint(1, 20))]
        made.append("".join(parts))
    return made
