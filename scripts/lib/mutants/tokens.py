"""Tokens of C++ as clang-format lays it out, with their brackets matched."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|<=>|->\*|\.\.\.|->|::|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])
    """,
    re.X | re.S | re.M,
)
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass
class Token:
    kind: str  # text, number, name or sign
    text: str
    start: int
    end: int
    spaced: bool  # white space on both sides: binary operators alone have it


class Tokens:
    """The tokens of a source without comments and directives; `match` joins brackets."""

    def __init__(self, source: str):
        self.source = source
        self.list = [
            Token(found.lastgroup if found.lastgroup != "mark" else "text", found[0], *found.span(),
                  source[found.start() - 1:found.start()].isspace() and source[found.end():found.end() + 1].isspace())
            for found in TOKEN.finditer(source)
            if found.lastgroup not in ("comment", "directive")
        ]
        self.match: dict[int, int] = {}
        self._match_brackets()

    def __len__(self) -> int:
        return len(self.list)

    def __getitem__(self, index: int) -> Token:
        return self.list[index]

    def text(self, index: int) -> str:
        return self.list[index].text if 0 <= index < len(self.list) else ""

    def source_of(self, first: int, last: int) -> str:
        """The source from one token to another one, both included."""
        return self.source[self.list[first].start:self.list[last].end]

    def after(self, index: int) -> int:
        """The token after this one, or after the bracket that it opens."""
        return max(self.match.get(index, index), index) + 1

    def opens_angle(self, index: int) -> bool:
        """Whether this `<` begins template arguments: comparisons have blanks around them."""
        token = self.list[index]
        return token.text == "<" and (not token.spaced and self.text(index - 1) != "operator"
                                      or self.text(index - 1) == "template")

    def _match_brackets(self) -> None:
        opened: list[int] = []
        for index, token in enumerate(self.list):
            if token.kind != "sign":
                continue
            if token.text in "([{" or self.opens_angle(index):
                opened.append(index)
            elif token.text in ")]}" or token.text == ">" and not token.spaced:
                while opened and self.text(opened[-1]) == "<" and token.text != ">":
                    opened.pop()
                if opened and CLOSING[self.text(opened[-1])] == token.text:
                    first = opened.pop()
                    self.match[first], self.match[index] = index, first
