"""Texts for comparisons of tokenizers, drawn from ranges of Unicode by a seed.

The characters exist since Unicode 3.2, apart from some emoji, so that libraries with tables of different versions agree
about them.
"""

import random
import unicodedata

SCRIPTS = {
    "Latin": (0x41, 0x24F), "IPA": (0x250, 0x2AF), "Greek": (0x370, 0x3FF), "Cyrillic": (0x400, 0x4FF),
    "Armenian": (0x531, 0x589), "Hebrew": (0x591, 0x5F4), "Arabic": (0x60C, 0x6FF), "Syriac": (0x700, 0x74A),
    "Thaana": (0x780, 0x7B1), "Devanagari": (0x901, 0x970), "Bengali": (0x981, 0x9FA), "Gurmukhi": (0xA02, 0xA74),
    "Gujarati": (0xA81, 0xAEF), "Oriya": (0xB01, 0xB70), "Tamil": (0xB82, 0xBF2), "Telugu": (0xC01, 0xC6F),
    "Kannada": (0xC82, 0xCEF), "Malayalam": (0xD02, 0xD6F), "Sinhala": (0xD82, 0xDF4), "Thai": (0xE01, 0xE5B),
    "Lao": (0xE81, 0xEDD), "Tibetan": (0xF00, 0xFCF), "Myanmar": (0x1000, 0x1059), "Georgian": (0x10A0, 0x10FB),
    "Hangul Jamo": (0x1100, 0x11F9), "Ethiopic": (0x1200, 0x137C), "Cherokee": (0x13A0, 0x13F4),
    "Canadian": (0x1401, 0x1676), "Khmer": (0x1780, 0x17E9), "Mongolian": (0x1800, 0x18A9),
    "Greek Extended": (0x1F00, 0x1FFE), "Punctuation": (0x2000, 0x2063), "Letterlike": (0x2100, 0x214B),
    "Number Forms": (0x2153, 0x2183), "Arrows and operators": (0x2190, 0x22FF), "Enclosed": (0x2460, 0x24FE),
    "Dingbats": (0x2701, 0x27BE), "Kana": (0x3041, 0x30FF), "Han": (0x4E00, 0x9FA5), "Hangul": (0xAC00, 0xD7A3),
    "Compatibility": (0xF900, 0xFAFF), "Presentation": (0xFB00, 0xFDFB), "Fullwidth": (0xFF01, 0xFFEE),
    "Mathematical": (0x1D400, 0x1D7FF), "Gothic": (0x10330, 0x1034A),
}
EMOJI = [(0x1F300, 0x1F5FF), (0x1F600, 0x1F64F), (0x1F680, 0x1F6C5), (0x1F900, 0x1F93E), (0x1F1E6, 0x1F1FF),
         (0x1F3FB, 0x1F3FF), (0x200D, 0x200D), (0xFE0F, 0xFE0F)]
SPACES = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", "\r\n\r\n", " \n", "\u00a0", "\u3000", "\u2003", "\u0085", "\u2028"]
CODE = ["def f(x):\n    return x[0] + 1\n", "if (a<b && c>=d) { x->y = 0x1F; }", "<div class=\"a\">&amp;</div>",
        "SELECT * FROM t WHERE id = 'x''y';", "https://example.org/a/b?c=d&e=%20f#g", "{\"k\": [1, 2.5e-3, null]}",
        "# -*- coding: utf-8 -*-", "a/b/\n/c//d", "\\frac{1}{2} \\n $$x^2$$", "I'll WE'RE don't DON'T they've 'S 'tis"]
MARKS = ["<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<bos>", "<h1>",
         "</h1>", "<unused3>", "[MASK]", "[CLS]", "<0x0A>", "\u2581", "\u2581\u2581", "##a"]


def characters(first, last):
    found = [chr(c) for c in range(first, last + 1) if unicodedata.ucd_3_2_0.category(chr(c)) not in ("Cn", "Cs", "Co")]
    assert found, hex(first)
    return found


def word(draw, letters):
    return "".join(draw.choice(letters) for _ in range(draw.randint(1, 9)))


def script_text(draw, letters):
    parts = []
    for _ in range(draw.randint(1, 12)):
        parts.append(word(draw, letters))
        parts.append(draw.choice(SPACES) if draw.random() < 0.3 else draw.choice([" ", " ", ", ", ". ", "-", ""]))
    return "".join(parts)


def mixed_text(draw, pools):
    makers = [
        lambda: word(draw, draw.choice(pools)),
        lambda: word(draw, pools[0]),
        lambda: draw.choice(SPACES),
        lambda: draw.choice(CODE),
        lambda: draw.choice(MARKS),
        lambda: str(draw.randint(0, 10 ** draw.randint(1, 12))),
        lambda: "".join(draw.choice("!?.,;:'\"()[]{}<>/\\|@#$%^&*-+=_~`") for _ in range(draw.randint(1, 5))),
        lambda: "".join(chr(draw.randint(*draw.choice(EMOJI))) for _ in range(draw.randint(1, 4))),
    ]
    return "".join(draw.choice(makers)() for _ in range(draw.randint(1, 15)))


def byte_text(draw):
    return bytes(draw.randrange(256) for _ in range(draw.randint(1, 40))).decode("utf-8", "replace")


def generated_texts(seed, count):
    """As many texts: of each script, mixed ones, code, random bytes that became UTF-8."""
    draw = random.Random(seed)
    pools = [characters(*bounds) for bounds in SCRIPTS.values()]
    texts = CODE + MARKS + [space + "x" + space for space in SPACES] + ["x" * 300, " " * 100, "\n" * 40 + "x", "", " "]
    while len(texts) < count:
        kind = draw.random()
        if kind < 0.4:
            texts.append(script_text(draw, draw.choice(pools)))
        elif kind < 0.9:
            texts.append(mixed_text(draw, pools))
        else:
            texts.append(byte_text(draw))
    return texts[:count]
