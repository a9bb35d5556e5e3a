"""The options of every tool, as --help-as=json lists them, and commands that use them."""

import json
import os
import pty
import subprocess
import termios
from dataclasses import dataclass
from pathlib import Path

TOOLS = ["mllm-check", "mllm-diff", "mllm-fmt", "mllm-interp", "mllm-lsp", "mllm-opt",
         "mllm-import", "mllm-pack", "mllm-parse", "mllm-reduce", "mllm-run", "mllm-tokenize",
         "mllm-weights"]
# A tokenizer of two letters.
TOKENIZER = '{"model":{"type":"BPE","unk_token":"a","vocab":{"a":0,"b":1},"merges":[]},"added_tokens":[{"id":2,"content":"c"}]}'
# A model without layers.
CONFIG = ('{"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 0, "hidden_size": 8, "num_attention_heads": 2,'
          ' "vocab_size": 4}')
FILE_KINDS = {"read file", "written file", "written folder"}


@dataclass
class Row:
    tool: str
    command: str  # empty where the tool has none
    name: str
    argument: str | None
    help: str
    refers_to: list[str]
    needed: bool

    def __str__(self):
        return " ".join(filter(None, [self.tool, self.command, "--" + self.name]))


def rows_of(folder, tool):
    text = subprocess.run([Path(folder) / tool, "--help-as=json"], capture_output=True, check=True).stdout
    page = json.loads(text)
    assert page["schema"] == 1 and page["tool"] == tool
    for row in page["options"]:
        for command in row["commands"] or page["commands"] or [""]:
            yield Row(tool, command, row["name"], row["argument"], row["help"], row["refers_to"], row["needed"])


def all_rows(folder):
    return [row for tool in TOOLS for row in rows_of(folder, tool)]


def run(folder, words, cwd):
    """Exit code, standard output and standard error, as bytes."""
    done = subprocess.run([Path(folder) / words[0], *words[1:]], cwd=cwd, capture_output=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def run_on_terminal(folder, words, cwd):
    """What a terminal gets when standard output and error are one."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    process = subprocess.Popen([Path(folder) / words[0], *words[1:]], cwd=cwd, stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=slave, env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"})
    os.close(slave)
    output = b""
    try:
        while piece := os.read(master, 65536):
            output += piece
    except OSError:  # how Linux tells that nobody writes any more
        pass
    os.close(master)
    return process.wait(timeout=60), output
