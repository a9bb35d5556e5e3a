"""Conversations for the chat templates in families/, which have the shapes of public families and were written for the tests."""

from pathlib import Path

FAMILIES = {path.stem: path.read_text(encoding="utf-8")
            for path in sorted((Path(__file__).parent / "families").glob("*.jinja"))}

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Tells the weather\nof a place, don't ask <twice> & \"so\"",
        "parameters": {"type": "object", "required": ["place"], "properties": {
            "place": {"type": "string", "description": "größe 模型"},
            "days": {"type": ["integer", "null"], "default": 1.5},
            "units": {"type": "string", "enum": ["metric", "it's"]}}}}},
    {"type": "function", "function": {
        "name": "add", "parameters": {"type": "object", "properties": {
            "numbers": {"type": "array", "items": {"type": "number"}}}}}},
]


def turn(role, content, **more):
    return {"role": role, "content": content, **more}


CALL = {"type": "function", "function": {"name": "add", "arguments": {"numbers": [1, 2.5, -3], "exact": True, "of": None}}}

CONVERSATIONS = {
    "one": [turn("user", "Hi")],
    "system": [turn("system", "  Be brief.\n"), turn("user", " Hello, don't \"quote\" \\ me.\n")],
    "long": [turn("system", "S"), turn("user", "U1"), turn("assistant", "A1 "), turn("user", "größe 模型 🤖"), turn("assistant", "<think>\nwhy\n</think>\n\nso"),
             turn("user", "U3")],
    "tools": [turn("user", "add"), turn("assistant", "", tool_calls=[CALL]), turn("tool", "0.5"), turn("tool", "1"),
              turn("assistant", "<think>x</think>done")],
    "twice": [turn("user", "a"), turn("user", "b")],
    "parts": [turn("user", [{"type": "text", "text": " a "}, {"type": "image"}])],
    "other": [turn("narrator", "a")],
}
