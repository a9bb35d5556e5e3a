"""The words of a text and their classes, as the scanner of the toolkit finds them."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Kinds of tokens that editors colour. A typed value is two words.
CLASS_OF = {
    "Symbol": "symbol", "OpName": "op", "Label": "label", "BlockName": "label", "Address": "comment", "Loc": "comment",
    "Angle": "keyword", "True": "keyword", "False": "keyword", "Null": "keyword", "Invalid": "keyword",
    "NameAngle": "string", "NameSquare": "string", "String": "string", "Bare": "string", "Arrow": "operator",
    "Value": "value", "Type": "type", "Tensor": "type", "OpaqueType": "type", "Dim": "number", "Int": "number",
    "Float": "number", "Word": "word", "Key": "key", "Hash": "macro", "QuantSpec": "macro", "QuantSpecOpen": "macro",
    "QuantAnnotationOpen": "macro", "NoneOpen": "macro",
}
# Finer classes of editors.
SAME = {"known op": "op", "element type": "word"}


@dataclass(frozen=True)
class Word:
    line: int  # from 1
    column: int  # in bytes, from 1
    colour: str
    text: str


def words_of(tools, path):
    """None if the text cannot be scanned."""
    done = subprocess.run([Path(tools) / "mllm-parse", "--emit=tokens", path], capture_output=True, check=False)
    if done.returncode != 0:
        return None
    words = []
    for line in done.stdout.decode(errors="surrogateescape").split("\n"):
        found = re.match(r"(\d+):(\d+) ([A-Za-z]+) (.+)", line)
        if not found:
            continue
        at, column, kind, text = int(found[1]), int(found[2]), found[3], found[4]
        if kind == "TypedValue":
            name = text.split(":", 1)[0]
            words.append(Word(at, column, "value", name))
            behind = column + len(name.encode(errors="surrogateescape")) + 1
            words.append(Word(at, behind, "type", text[len(name) + 1:]))
        elif kind in CLASS_OF:
            words.append(Word(at, column, CLASS_OF[kind], text))
    return words


def is_same(found, wanted):
    return SAME.get(found, found) == wanted
