"""How editors colour the words of a text: rules that the emitters write in each editor's own form.

A context is a list of rules. `Match` colours one word, `Region` colours what begins and ends it and applies the rules of
other contexts inside, `Include` adds the rules of a context. Patterns are regular expressions of Oniguruma without
groups that capture; where several rules match at one place, the first one counts.
"""

from dataclasses import dataclass

# The classes of words, as the server's semantic tokens name them where those have a name.
CLASSES = ["comment", "symbol", "op", "known op", "label", "keyword", "string", "operator", "value", "type",
           "element type", "number", "word", "key", "macro"]


@dataclass(frozen=True)
class Match:
    colour: str
    pattern: str


@dataclass(frozen=True)
class Region:
    begin: str
    end: str
    contents: tuple[str, ...]
    begin_colour: str | None = None
    end_colour: str | None = None


@dataclass(frozen=True)
class Include:
    context: str


STRING = r'"(?:[^"\\\n]|\\.)*"'
PLAIN_KEY = r'(?:[A-Za-z0-9_.$-]+|"[^"\n]*")'
PORT = rf"(?:[A-Za-z0-9_.$-]+|{STRING})"
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
NAME = r"[A-Za-z0-9_.$/-]"
BALANCED = r"<(?:->|[^<>\n]|<(?:->|[^<>\n]|<[^<>\n]*>)*>)*>"
NUMBER = r"-?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)(?![A-Za-z0-9_])"
EXTENT = r"(?:[-0-9(][A-Za-z0-9_+*/%() -]*)?\$[A-Za-z_][A-Za-z0-9_]*(?:[A-Za-z0-9_$+*/%() -]*[A-Za-z0-9_)])?"
CONSTANT = r"(?:true|false|null)(?![A-Za-z0-9_])"
ENDS_VALUE = r"(?=\s*(?:[,\]]|//))"
# What begins a value that is no unquoted text.
STRUCTURED = (r'(?:["\[{!]|#[A-Za-z]|tensor\s*(?:<|//)|Quant(?:Spec|Annotation)\s*\(|<InvalidAttribute NYI>|'
              rf"(?:{NUMBER}|{CONSTANT}|{EXTENT}|@{NAME}*)\s*(?:[,\]]|//))")
UNQUOTED = (rf"(?<=:)[ \t]*(?!{STRUCTURED})[^\s,\]]"
            rf"(?:(?!\s*(?:\]|$)|\s*,\s*(?:\*\s*,\s*)?{PLAIN_KEY}\s*:|\s*,\s*\*\s*\])[^\n])*")


def known_ops(keywords):
    """One pattern for all ops of the rows; a device stands before the names of some dialects."""
    by_dialect = {}
    for name in keywords["op"]:
        dialect, op = name.split(".", 1)
        by_dialect.setdefault(dialect, []).append(op.replace("<", r"\<").replace(">", r"\>"))
    patterns = []
    for dialect, ops in sorted(by_dialect.items()):
        device = r"[A-Za-z_][A-Za-z0-9_]*\." if dialect in ("linalg", "tensor") else ""
        patterns.append(rf"{dialect}\.{device}(?:{'|'.join(sorted(ops, reverse=True))})")
    short = {op for dialect in ("linalg", "tensor") for op in by_dialect.get(dialect, []) if op.isidentifier()}
    patterns.append(rf"(?<![A-Za-z0-9_.$/-])\.(?:{'|'.join(sorted(short, reverse=True))})")
    return rf"(?:{'|'.join(patterns)})(?![A-Za-z0-9_.$-]|[ \t]*[^ \t\n(<\[@{{}}\-l])"


def contexts(keywords):
    element_types = "|".join(sorted(keywords["element-type"], reverse=True))
    return {
        "body": [
            Include("comment"),
            Include("location"),
            Match("comment", r"addr\s*:\s*0x[0-9a-fA-F]+"),
            Region(r"prog\.jump(?![A-Za-z0-9_.$-])", r"(?=[\[{}(@])|$", ("comment", "jump label"), "known op"),
            Match("string", r'<\s*name\s*=\s*"[^\n]*?"\s*>'),
            Match("string", r'<\s*\.[A-Za-z0-9_.$-]*[A-Za-z0-9_.$]\s*>'),
            Match("string", r'\[\s*name\s*=\s*"[^\n]*?"\s*\]'),
            Match("keyword", rf"(?<!-){BALANCED}"),
            Region(r"\[(?=\s*\^)", r"\]", ("comment", "label", "list")),
            Region(r"\[", r"\]", ("comment", "attribute")),
            Include("list"),
            Include("label"),
            Include("symbol"),
            Match("operator", r"->"),
            Match("macro", rf"#{NAME}+(?=\s*=)"),
            Match("type", r"![A-Za-z_][A-Za-z0-9_]*(?=\s*=)"),
            Region(r"=", r'(?<=[}\])">A-Za-z0-9_])|^', ("comment", "data")),
            Match("known op", known_ops(keywords)),
            Match("op", r"linalg\.[A-Za-z0-9_]*\.[^\s(<\[{@]*"
                        r"(?:[ \t]+(?!loc\b|//|->)[^(<\[\n@{\s](?:[^(<\[\n@{]*[^(<\[\n@{\s])?)?"),
            Match("op", r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_$-]+)+"),
            Match("op", r"(?<![A-Za-z0-9_.$/-])\.[A-Za-z_][A-Za-z0-9_]*"),
        ],
        "comment": [Match("comment", r"//[^\n]*")],
        "location": [Region(r"loc\s*\(", r"\)", ("location text",), "comment", "comment")],
        "location text": [
            Match("comment", STRING),
            Region(r"\(", r"\)", ("location text",), "comment", "comment"),
            Match("comment", r'[^"()]'),
        ],
        "jump label": [
            Match("label", STRING),
            Match("label", rf"[^\[\n{{(\s][^\[\n{{(]*?\.__entry(?!{NAME})|{NAME}+"),
        ],
        "label": [Match("label", rf"\^{NAME}+")],
        "symbol": [
            Match("symbol", rf"@(?:{STRING}|"
                            rf"(?:(?!\s*(?:[{{<]|\[\s*(?:{PLAIN_KEY}\s*:|[\]^]|//|$)|\(\s*[%)]|//|$))[^\n])*)"),
        ],
        "list": [Region(r"\(", r"\)", ("comment", "listed value"))],
        "listed value": [
            Match("value", r"%(?:(?!\s*(?:[:,()\[\]{}<>%]|//|$))[^\n])*"),
            Include("type"),
            Region(r"\[(?=\s*@)", r"\]", ("value symbol",)),
            Region(rf"\[(?=\s*{PORT}\s*\])", r"\]", ("port",)),
            Region(r"\[", r"\]", ("comment", "attribute")),
        ],
        "port": [Match("key", PORT)],
        "value symbol": [Match("symbol", rf"@(?:{STRING}|(?:(?!\s*\])[^\n])*)")],
        "type": [
            Region(r"tensor(?=\s*(?:<|//))", r">", ("comment", "extent", "element type", "word", "dialect value", "type"), "type"),
            Match("type", rf"!{NAME}+(?:{BALANCED})?"),
        ],
        "extent": [Match("number", r"\?|[-0-9$(](?:(?!\s*(?:[,\]>]|//|$))[^\n])*")],
        "element type": [Match("element type", rf"(?:{element_types})(?![A-Za-z0-9_])")],
        # `null` is the encoding of a tensor that has none, in signatures of declared ops.
        "word": [Match("keyword", r"null(?![A-Za-z0-9_])"), Match("word", r"[A-Za-z_][A-Za-z0-9_]*")],
        "dialect value": [Match("macro", rf"#{WORD}\([0-9]+\)"), Match("macro", rf"#{NAME}+(?:{BALANCED})?"), Match("string", STRING)],
        "attribute": [
            Match("key", rf'{STRING}(?=\s*(?::|//))|[^,()\[\]{{}}<>%@":\s](?:(?:(?!//)[^,()\[\]{{}}<>%@":\n])*[^,()\[\]{{}}<>%@":\s])?(?=\s*(?::|//))'),
            Region(r":", r"(?=[,\]])", ("value",)),
            Match("macro", rf"#{WORD}(?:\([0-9]+\))?"),
            Match("word", r"\*"),
        ],
        "value": [
            Match("string", UNQUOTED),
            Match("keyword", r"<InvalidAttribute NYI>"),
            Match("number", rf"(?:{NUMBER}|{EXTENT}){ENDS_VALUE}"),
            Match("keyword", rf"{CONSTANT}{ENDS_VALUE}"),
            Match("symbol", rf"@{NAME}*"),
            Include("comment"),
            Include("structured"),
        ],
        "structured": [
            Match("string", STRING),
            Region(r"\[", r"\]", ("comment", "data")),
            Region(r"\{", r"\}", ("comment", "data")),
            Include("type"),
            Include("quantisation"),
            Match("macro", rf"#{WORD}\([0-9]+\)"),
            Match("macro", rf"#{NAME}+(?:{BALANCED})?"),
        ],
        "data": [
            Include("structured"),
            Match("symbol", rf"@{NAME}*"),
            Match("number", rf"\?|{EXTENT}|{NUMBER}"),
            Match("keyword", CONSTANT),
            Include("element type"),
            Include("word"),
        ],
        "quantisation": [
            Region(r"QuantSpec\s*\(", r"\)", ("comment", "specification"), "macro"),
            Region(r"QuantAnnotation\s*\(", r"\)", ("comment", "quantisation", "dialect value", "word"), "macro"),
        ],
        "specification": [
            Match("macro", r"None\((?=\s*,)"),
            Region(r"\(", r"\)", ("comment", "specification")),
            Match("number", NUMBER),
            Include("element type"),
            Include("word"),
        ],
    }
