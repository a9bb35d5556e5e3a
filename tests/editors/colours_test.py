#!/usr/bin/env python3
"""The editors' grammars colour the words of texts as the scanner does.

usage: colours_test.py textmate|vim|server TOOLS [FOLDER...]

Compares the words of all texts in testdata and in the folders that can be scanned. Exits with 77 if the editor or its
packages are missing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "editors" / "generator")]

import textmate  # noqa: E402
import vim  # noqa: E402
from scanner_words import is_same, words_of  # noqa: E402

MOST_BYTES = 300_000  # of one text; the largest dumps repeat themselves
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def texts(folders):
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.mir")):
            data = path.read_bytes()
            if len(data) > MOST_BYTES or b"\r\r" in data:
                continue
            try:
                data.decode()
            except UnicodeDecodeError:
                continue
            yield path


def textmate_colours(subjects):
    modules = os.environ.get("NODE_PATH", str(Path(__file__).parent / "node_modules"))
    environment = {**os.environ, "NODE_PATH": modules}
    probe = "require('vscode-textmate'); require('vscode-oniguruma')"
    if shutil.which("node") is None or subprocess.run(["node", "-e", probe], env=environment, check=False,
                                                      capture_output=True).returncode != 0:
        skip("node with the packages vscode-textmate and vscode-oniguruma is missing: run npm ci --ignore-scripts in tests/editors, or set NODE_PATH")
    colours = {textmate.scope(colour): colour for colour in textmate.SCOPES}
    job = {"grammar": str(ROOT / "editors/vscode/syntaxes/mir.tmLanguage.json"), "scopes": list(colours),
           "files": [{"path": str(path), "words": [[word.line, word.column] for word in words]}
                     for path, words in subjects]}
    script = str(Path(__file__).parent / "textmate_words.js")
    done = subprocess.run(["node", script], input=json.dumps(job), capture_output=True, text=True, env=environment,
                          check=True)
    return [[colours.get(scope) for scope in scopes] for scopes in json.loads(done.stdout)]


VIM_SCRIPT = """
set nocompatible encoding=utf-8 fileencodings=utf-8 synmaxcol=0 redrawtime=60000 maxmempattern=100000
set runtimepath^={runtime}
syntax on
for s:job in readfile('{folder}/jobs')
  let s:parts = split(s:job, "\\t")
  execute 'edit! ' . fnameescape(s:parts[0])
  setlocal filetype=mir
  syntax sync fromstart
  let s:answers = []
  for s:place in readfile(s:parts[1])
    let s:at = split(s:place)
    call add(s:answers, synIDattr(synID(s:at[0], s:at[1], 1), 'name'))
  endfor
  call writefile(s:answers, s:parts[1] . '.out')
endfor
qall!
"""


def vim_colours(subjects):
    if shutil.which("vim") is None:
        skip("vim is missing")
    if "+syntax" not in subprocess.run(["vim", "--version"], capture_output=True, text=True, check=True).stdout.split():
        skip("this vim has no syntax files: vim-nox has them")
    by_group = {vim.group(colour): colour for colour in vim.LINKS}
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for index, (path, words) in enumerate(subjects):
            places = Path(folder) / f"places{index}"
            places.write_text("".join(f"{word.line} {word.column}\n" for word in words))
            jobs.append(f"{path}\t{places}\n")
        (Path(folder) / "jobs").write_text("".join(jobs))
        script = Path(folder) / "probe.vim"
        script.write_text(VIM_SCRIPT.replace("{runtime}", str(ROOT / "editors/vim")).replace("{folder}", folder))
        # Vim is not under test, and filling what it frees, as Meson asks for, takes most of the time.
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
        done = subprocess.run(["vim", "-Nu", "NONE", "-n", "-es", "-S", script], capture_output=True, text=True,
                              env=environment, check=False)
        for index, (_, words) in enumerate(subjects):
            out = Path(folder) / f"places{index}.out"
            if not out.is_file():
                sys.exit(f"vim stopped at {subjects[index][0]}: {done.stderr}")
            groups = out.read_text().split("\n")[:len(words)]
            answers.append([by_group.get(group.split("In", 1)[0] if group not in by_group else group)
                            for group in groups])
    return answers


# Types of the server's semantic tokens.
SERVER_CLASSES = {
    "namespace": {"symbol"}, "function": {"op"}, "variable": {"value"}, "type": {"type"}, "property": {"key"},
    "string": {"string"}, "number": {"number"}, "keyword": {"keyword"}, "enumMember": {"label", "word"},
    "comment": {"comment"}, "macro": {"macro"}, "operator": {"operator"},
}


class Server:
    """A server and its messages, one answer at a time."""

    def __init__(self, tools):
        self.process = subprocess.Popen([Path(tools) / "mllm-lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, parameters):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": parameters})
        while True:
            answer = self.receive()
            if answer.get("id") == self.count and "method" not in answer:
                return answer["result"]


def server_colours(tools, subjects):
    server = Server(tools)
    capabilities = {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {"semanticTokens": {
        "requests": {"full": True}, "tokenTypes": list(SERVER_CLASSES), "tokenModifiers": [], "formats": ["relative"]}}}
    begun = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
    assert begun["capabilities"]["positionEncoding"] == "utf-8"
    legend = begun["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"]
    server.send({"method": "initialized", "params": {}})
    answers = []
    for path, words in subjects:
        document = {"uri": path.as_uri()}
        server.send({"method": "textDocument/didOpen", "params": {"textDocument": {
            **document, "languageId": "mir", "version": 1, "text": path.read_text(encoding="utf-8")}}})
        data = server.ask("textDocument/semanticTokens/full", {"textDocument": document})["data"]
        types, line, column = {}, 0, 0
        for begin in range(0, len(data), 5):
            line_step, column_step, _, kind, _ = data[begin:begin + 5]
            column = column_step if line_step else column + column_step
            line += line_step
            types[line + 1, column + 1] = legend[kind]
        # A class that the type admits, the wanted one if it does.
        colours = []
        for word in words:
            admitted = SERVER_CLASSES.get(types.get((word.line, word.column)), set())
            colours.append(word.colour if word.colour in admitted else next(iter(admitted), None))
        answers.append(colours)
        server.send({"method": "textDocument/didClose", "params": {"textDocument": document}})
    server.ask("shutdown", None)
    server.send({"method": "exit"})
    assert server.process.wait(timeout=10) == 0
    return answers


def main(editor, tools, *folders):
    subjects = []
    for path in texts([ROOT / "testdata", *folders]):
        words = words_of(tools, path)
        if words:
            subjects.append((path, words))
    if editor == "server":
        answers = server_colours(tools, subjects)
    else:
        answers = {"textmate": textmate_colours, "vim": vim_colours}[editor](subjects)
    compared = wrong = 0
    for (path, words), colours in zip(subjects, answers):
        assert len(words) == len(colours), path
        for word, colour in zip(words, colours):
            compared += 1
            if is_same(colour, word.colour):
                continue
            wrong += 1
            if wrong <= 20:
                print(f"{path}:{word.line}:{word.column}: '{word.text[:60]}' is coloured as {colour}, not as {word.colour}")
    print(f"{compared} words of {len(subjects)} texts compared, {wrong} differ")
    assert compared > 5000
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
