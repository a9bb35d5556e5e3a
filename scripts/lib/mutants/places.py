"""Places of a C++ source where a mutation may be switched in.

A place is a stretch of text inside of a function body and its switched form: an expression or a
statement that means the same while `mir_mutant_is(N)` is false. What the compiler must know, like
template arguments and constants, cannot be switched and is left out. The compiler finds the rest:
a place that does not compile is dropped.
"""

import re
from dataclasses import dataclass, field

from .tokens import Tokens

NUMBER = "\0"  # stands for the number of the mutant
MUTANT = f"mir_mutant_is({NUMBER})"
MUTANT_AT_RUN_TIME = f"mir_mutant_is_at_run_time({NUMBER})"
PRECEDENCE = {"*": 10, "/": 10, "%": 10, "+": 9, "-": 9, "<<": 8, "<=>": 8, "<": 7, ">": 7, "<=": 7, ">=": 7,
              "==": 6, "!=": 6, "&": 5, "^": 4, "|": 3, "&&": 2, "||": 1}
ENDS_OPERAND = {",", ";", "?", ":", "=", "return", "throw", "else", "case", "co_return",
                "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
# The first is the neighbour on the boundary, the second the opposite.
OTHER_SIGNS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
               "==": ("!=",), "!=": ("==",), "+": ("-",), "-": ("+",), "&&": ("||",), "||": ("&&",)}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "|=", "&="}
POSITIONS = {"data", "begin", "end"}  # pointers and iterators, which have differences and no sums
KEYWORDS = {"return", "if", "for", "while", "do", "switch", "case", "default", "break", "continue", "else", "using",
            "static", "const", "constexpr", "auto", "throw", "goto", "delete", "new", "template", "typename",
            "static_assert", "static_cast", "reinterpret_cast", "try", "catch", "struct", "class", "enum", "union"}
# Calls that change nothing but time and memory: neither they nor their arguments are mutated.
WITHOUT_EFFECT = {"reserve", "shrink_to_fit", "prefetch", "Prefetch", "madvise", "assert"}
# Functions that hash for a table: other seeds and steps only spread the same keys otherwise.
HASH = re.compile(r"hash(_\w+)?|\w+_hash")
HASH_TYPES = {"size_t", "uint32_t"}
UNEVALUATED = {"requires", "sizeof", "decltype", "alignof", "alignas", "noexcept", "static_assert"}


@dataclass
class Place:
    start: int
    end: int
    before: str
    after: str
    kind: str
    switched: str
    line: int = 0
    path: str = ""
    number: int = 0
    lines_after: range = field(default=range(0))  # where the switched form lies in the written file


class Finder:
    """The places of one source."""

    def __init__(self, source: str):
        self.tokens = Tokens(source)
        self.usable = [False] * len(self.tokens)
        self.constant_functions: list[range] = []
        self.hash_functions: list[range] = []
        self.places: list[Place] = []

    def find(self) -> list[Place]:
        self._mark_bodies()
        self._leave_out_constants()
        for index, token in enumerate(self.tokens.list):
            if not self.usable[index]:
                continue
            if token.kind == "sign":
                self._sign(index)
            elif token.kind == "number":
                self._number(index)
            elif token.kind == "name":
                self._name(index)
            if self._begins_statement(index):
                self._statement(index)
        return self.places

    # What lies in function bodies.

    def _mark_bodies(self) -> None:
        tokens, index = self.tokens, 0
        while index < len(tokens):
            if tokens.text(index) == "{" and index in tokens.match:
                kind, is_constant = self._kind_of_brace(index)
                last = tokens.match[index]
                if kind == "function" and not self._measures_time(index, last):
                    if self._hashes(index):
                        self.hash_functions.append(range(tokens[index].start, tokens[last].end))
                    for inner in range(index + 1, last):
                        self.usable[inner] = True
                    if is_constant:
                        self.constant_functions.append(range(tokens[index].start, tokens[last].end))
                if kind in ("function", "value"):
                    index = last
            index += 1

    def _kind_of_brace(self, brace: int) -> tuple[str, bool]:
        """What a `{` outside of functions begins, and whether it may be evaluated at compile time."""
        head = []
        index = brace - 1
        tokens = self.tokens
        while index >= 0 and tokens.text(index) not in ("{", ";"):
            if tokens.text(index) == "}" and not (index in tokens.match and self._is_initialiser(tokens.match[index])):
                break
            if tokens.match.get(index, index) > index:  # a default argument
                return "value", False
            index = tokens.match.get(index, index)
            head.append(tokens.text(index))
            index -= 1
        head.reverse()
        if "namespace" in head or "extern" in head:
            return "scope", False
        assigns = any(text == "=" and head[at - 1] != "operator" for at, text in enumerate(head))
        if "enum" in head or assigns:
            return "value", False
        if "consteval" in head:  # never runs
            return "value", False
        if "(" in head:
            return "function", "constexpr" in head
        return ("scope", False) if {"class", "struct", "union"} & set(head) else ("value", False)

    def _measures_time(self, first: int, last: int) -> bool:
        """Whether a body has `asm` that touches memory: only a loop whose time is measured needs one."""
        tokens = self.tokens
        return any(tokens.text(at) == "asm" and any(tokens.text(inner) == '"memory"' for inner in range(at, last))
                   for at in range(first, last))

    def _hashes(self, brace: int) -> bool:
        """Whether the function of this body returns a number and is named for a hash."""
        tokens, at = self.tokens, brace - 1
        while at > 0 and tokens[at].kind == "name":  # const, noexcept
            at -= 1
        if tokens.text(at) != ")" or at not in tokens.match:
            return False
        name = tokens.match[at] - 1
        return bool(HASH.fullmatch(tokens.text(name))) and tokens.text(name - 1) in HASH_TYPES

    def _is_initialiser(self, brace: int) -> bool:
        """`member{value}` of a constructor."""
        before = self.tokens[brace - 1]
        return before.end == self.tokens[brace].start and before.kind == "name"

    def _leave_out(self, first: int, last: int) -> None:
        for index in range(first, last + 1):
            self.usable[index] = False

    def _end_of_statement(self, index: int) -> int:
        while index < len(self.tokens) and self.tokens.text(index) != ";":
            index = self.tokens.after(index)
        return min(index, len(self.tokens) - 1)

    def _leave_out_constants(self) -> None:
        tokens = self.tokens
        for index in range(len(tokens)):
            text, after = tokens.text(index), tokens.text(index + 1)
            if not self.usable[index]:
                continue
            if text == "<" and index in tokens.match:
                self._leave_out(index, tokens.match[index])
            elif text == "[" and self._opens_captures(index):
                self._leave_out(index, tokens.match.get(index, index))
            elif text in ("constexpr", "using", "static_assert") or text == "static" and after in ("const", "constexpr"):
                if tokens.text(index - 1) == "if" and index + 1 in tokens.match:
                    self._leave_out(index, tokens.match[index + 1])
                else:
                    self._leave_out(index, self._end_of_statement(index))
            elif text == "case":
                last = index
                while tokens.text(last) not in (":", ""):
                    last += 1
                last = min(last, len(tokens) - 1)
                self._leave_out(index, last)
            elif index + 1 in tokens.match and after == "(" and (
                    text in UNEVALUATED | WITHOUT_EFFECT or re.fullmatch(r"[A-Z][A-Z0-9_]{2,}", text)):
                self._leave_out(index, tokens.match[index + 1])
            elif text == "operator":
                self._leave_out(index, index + 1)

    def _opens_captures(self, index: int) -> bool:
        before = self.tokens.list[index - 1]
        return not (before.kind == "name" and before.text != "return" or before.text in (")", "]", ">", "}"))

    # Operands.

    def _is_binary(self, index: int) -> bool:
        token = self.tokens[index]
        return token.kind == "sign" and token.text in PRECEDENCE and token.spaced

    def _first_of_left(self, index: int) -> int | None:
        """The first token of the left operand of the operator at `index`."""
        tokens, strength = self.tokens, PRECEDENCE[self.tokens.text(index)]
        at = index - 1
        while at >= 0:
            text = tokens.text(at)
            if text in ENDS_OPERAND or self._is_binary(at) and PRECEDENCE[text] < strength:
                break
            if text in ")]}>" and at in tokens.match:
                at = tokens.match[at]
            elif text in ("(", "[", "{", "}") or text == "<" and at in tokens.match:
                break
            at -= 1
        return at + 1 if at + 1 < index else None

    def _last_of_right(self, index: int, strength: int) -> int | None:
        tokens, at = self.tokens, index + 1
        while at < len(tokens):
            text = tokens.text(at)
            if text in ENDS_OPERAND or text in (")", "]", "}"):
                break
            if self._is_binary(at) and PRECEDENCE[text] <= strength:
                break
            at = tokens.after(at)
        return at - 1 if at - 1 > index else None

    # Single mutations.

    def _add(self, first: int, last: int, kind: str, after: str, switched: str) -> None:
        if not all(self.usable[index] for index in (first, last)):
            return
        start, end = self.tokens[first].start, self.tokens[last].end
        source = self.tokens.source
        if kind in ("constant", "sum") and any(start in body for body in self.hash_functions):
            return
        if any(start in body for body in self.constant_functions):
            switched = switched.replace(MUTANT, MUTANT_AT_RUN_TIME)
        self.places.append(
            Place(start, end, source[start:end], after, kind, switched, source.count("\n", 0, start) + 1))

    def _choice(self, first: int, last: int, kind: str, after: str) -> None:
        before = self.tokens.source_of(first, last)
        self._add(first, last, kind, after, f"({MUTANT} ? ({after}) : ({before}))")

    def _sign(self, index: int) -> None:
        text = self.tokens.text(index)
        if text == "!" and (last := self._last_of_right(index, 11)):
            operand = self.tokens.source_of(index + 1, last)
            self._add(index, last, "negation", operand, f"({MUTANT} ? static_cast<bool>({operand}) : !{operand})")
        if not self._is_binary(index) or text not in OTHER_SIGNS:
            return
        first, last = self._first_of_left(index), self._last_of_right(index, PRECEDENCE[text])
        if first is None or last is None:
            return
        is_text = any(self.tokens[at].kind == "text" and self.tokens.text(at)[-1] == '"' for at in range(first, last + 1))
        is_distance = self.tokens.text(last) == ")" and self.tokens.text(last - 2) in POSITIONS
        if text == "+" and is_text or text == "-" and is_distance:  # the others do not compile
            return
        left = self.tokens.source[self.tokens[first].start:self.tokens[index].start]
        right = self.tokens.source[self.tokens[index].end:self.tokens[last].end]
        kind = {"+": "sum", "-": "sum", "&&": "and or", "||": "and or"}.get(text, "comparison")
        for other in OTHER_SIGNS[text]:
            self._choice(first, last, kind, left + other + right)

    def _number(self, index: int) -> None:
        text = self.tokens.text(index)
        if not re.fullmatch(r"\d+|\d+\.\d+|0x[0-9a-fA-F']+", text):
            return
        self._choice(index, index, "constant", {"0": "1", "1": "0"}.get(text, text + " + 1"))

    def _name(self, index: int) -> None:
        tokens, text = self.tokens, self.tokens.text(index)
        if text == "if" and tokens.text(index + 1) == "(":
            self._condition(index + 1)
        elif text in ("true", "false") and tokens.text(index - 1) == "return" and tokens.text(index + 1) == ";":
            self._choice(index, index, "result", "false" if text == "true" else "true")
        elif text in ("continue", "break") and tokens.text(index + 1) == ";":
            other = "break" if text == "continue" else "continue"
            self._add(index, index + 1, "jump", other + ";", f"{{ if ({MUTANT}) {other}; else {text}; }}")
        elif text in ("min", "max") and tokens.text(index - 1) == "::" and tokens.text(index - 2) == "std":
            opening = tokens.match.get(index + 1, index) + 1 if tokens.text(index + 1) == "<" else index + 1
            if tokens.text(opening) == "(" and opening in tokens.match:
                last = tokens.match[opening]
                rest = tokens.source_of(index + 1, last)
                if self.usable[index - 2] and self.usable[last]:
                    self._choice(index - 2, last, "minimum", "std::" + ("max" if text == "min" else "min") + rest)

    def _condition(self, opening: int) -> None:
        """The whole condition of an `if` that declares nothing."""
        closing = self.tokens.match.get(opening)
        if closing is None or closing == opening + 1:
            return
        at = opening + 1
        while at < closing:
            if self.tokens.text(at) in ("=", ";"):
                return
            at = self.tokens.after(at)
        inner = self.tokens.source_of(opening + 1, closing - 1)
        self._add(opening + 1, closing - 1, "condition", f"!({inner})",
                  f"{MUTANT} != static_cast<bool>({inner})")

    def _begins_statement(self, index: int) -> bool:
        tokens, before = self.tokens, self.tokens.text(index - 1)
        if before == ")":
            opening = tokens.match.get(index - 1, 0)
            return tokens.text(opening - 1) in ("if", "for", "while")
        return before in (";", "{", "}", "else") or before == ":" and tokens.text(index - 2) == "default"

    def _statement(self, index: int) -> None:
        """A call or an assignment that stands alone is removed."""
        tokens, at = self.tokens, index
        if tokens[index].kind != "name" and tokens.text(index) != "*" or tokens.text(index) in KEYWORDS:
            return
        if tokens.text(at) == "*":
            at += 1
        last_name = ""
        while tokens[at].kind == "name":
            last_name = tokens.text(at)
            at += 1
            while tokens.text(at) in ("(", "[", "<") and at in tokens.match:
                at = tokens.match[at] + 1
            if tokens.text(at) not in ("::", ".", "->"):
                break
            at += 1
        is_call = tokens.text(at) == ";" and tokens.text(at - 1) == ")"
        if last_name in WITHOUT_EFFECT or not (is_call or tokens.text(at) in ASSIGNMENTS and tokens[at].spaced):
            return
        end = self._end_of_statement(at)
        statement = tokens.source_of(index, end)
        self._add(index, end, "removed", "", f"{{ if (!{MUTANT}) {{ {statement} }} }}")


def find_places(source: str, path: str = "") -> list[Place]:
    places = Finder(source).find()
    for place in places:
        place.path = path
    return places


def apply(source: str, places: list[Place]) -> str:
    """The source with all these places switched; notes the lines of each in the new text."""
    parts, at, line = [], 0, 1
    for place in sorted(places, key=lambda each: each.start):
        kept = source[at:place.start]
        switched = place.switched.replace(NUMBER, str(place.number))
        line += kept.count("\n")
        place.lines_after = range(line, line + switched.count("\n") + 1)
        line += switched.count("\n")
        parts += [kept, switched]
        at = place.end
    return "".join(parts) + source[at:]
