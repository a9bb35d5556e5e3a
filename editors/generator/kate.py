"""The syntax definition of Kate and other editors of KDE."""

import re
from xml.sax.saxutils import quoteattr

from rules import CLASSES, Include, Match, Region

STYLES = {
    "comment": "dsComment", "symbol": "dsPreprocessor", "op": "dsFunction", "known op": "dsBuiltIn",
    "label": "dsControlFlow", "keyword": "dsKeyword", "string": "dsString", "operator": "dsOperator",
    "value": "dsVariable", "type": "dsDataType", "element type": "dsDataType", "number": "dsDecVal",
    "word": "dsConstant", "key": "dsAttribute", "macro": "dsImport",
}


def expression(pattern, attribute, context):
    return (f"        <RegExpr attribute={quoteattr(attribute)} context={quoteattr(context)} "
            f"String={quoteattr(pattern)}/>")


def end_of(region):
    """Kate ignores empty matches: a rule that looks ahead matches something that it does not take."""
    pattern = re.sub(r"\|[$^]$", "", region.end)  # the end of the line ends the context itself
    found = re.fullmatch(r"\(\?=(.*)\)", pattern)
    if not found and not pattern.startswith("(?<="):
        return expression(pattern, region.end_colour or "text", "#pop")
    ahead = found[1] if found else pattern + "."
    return f'        <RegExpr attribute="text" context="#pop" lookAhead="true" String={quoteattr(ahead)}/>'


class Definition:
    def __init__(self, contexts):
        self.contexts = contexts
        self.regions = {}  # to the names of their contexts

    def rule(self, rule):
        if isinstance(rule, Include):
            return f"        <IncludeRules context={quoteattr(rule.context)}/>"
        if isinstance(rule, Match):
            return expression(rule.pattern, rule.colour, "#stay")
        name = self.regions.setdefault(rule, f"region {len(self.regions) + 1}")
        return expression(rule.begin, rule.begin_colour or "text", name)

    @staticmethod
    def context(name, rules, at_line_end="#stay"):
        return [f'      <context name={quoteattr(name)} attribute="text" lineEndContext="{at_line_end}">', *rules,
                "      </context>"]

    def text(self):
        body = []
        for name, rules in self.contexts.items():
            body += self.context(name, [self.rule(rule) for rule in rules])
        for region, name in self.regions.items():
            includes = [f"        <IncludeRules context={quoteattr(each)}/>" for each in region.contents]
            at_line_end = "#pop" if region.end.endswith(("|^", "|$")) else "#stay"
            body += self.context(name, [end_of(region), *includes], at_line_end)
        items = [f"      <itemData name={quoteattr(each)} defStyleNum={quoteattr(STYLES[each])}/>" for each in CLASSES]
        return "\n".join([
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<!DOCTYPE language>",
            '<language name="MLLM IR" version="1" kateversion="5.0" section="Sources" extensions="*.mir" '
            'license="MIT">',
            "  <highlighting>",
            "    <contexts>",
            *body,
            "    </contexts>",
            "    <itemDatas>",
            '      <itemData name="text" defStyleNum="dsNormal"/>',
            *items,
            "    </itemDatas>",
            "  </highlighting>",
            "  <general>",
            "    <comments>",
            '      <comment name="singleLine" start="//"/>',
            "    </comments>",
            "  </general>",
            "</language>",
        ]) + "\n"


def definition(contexts):
    return Definition(contexts).text()
