#!/usr/bin/env python3
"""Times the language server on one file, as an editor sees it: from the bytes written to the bytes read.

usage: editor_bench.py SERVER FILE [--beside SERVER FILE] [--repeats N] [--pull]

SERVER is mllm-lsp of a release build, or mlir-lsp-server with FILE.mlir: what a server does not have is left out. A
text of its own has a symbol that is used 1,000 times. Medians in milliseconds, with the least sample. Memory is what the
process has in pages, with those of files and without: when no text is open, at the peak, and when all is answered. The
peak without pages of files is the greatest of many samples. With --pull, the client asks for diagnostics itself. With
--beside, a second server is timed right after the first one.
"""

import argparse
import json
import queue
import re
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path


class Client:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.messages = queue.Queue()
        self.last = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        while True:
            length = 0
            while (line := stream.readline().strip()):
                if line.lower().startswith(b"content-length"):
                    length = int(line.split(b":")[1])
            if length == 0:
                return
            self.messages.put(stream.read(length))

    @staticmethod
    def frame(message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(self.frame(message))

    def wait(self, wanted):
        """The bytes of the first message that is wanted: reading its JSON is not the server's time."""
        while True:
            body = self.messages.get(timeout=60)
            if wanted(body):
                return body

    def request(self, method, params):
        """Asks, and returns the bytes of the answer."""
        self.last += 1
        number = self.last
        self.send({"id": number, "method": method, "params": params})
        return self.wait(lambda body: number_of("id", body[:200]) == number and b'"method":' not in body[:200])

    def ask(self, method, params):
        return json.loads(self.request(method, params))

    def diagnostics(self, version):
        return self.wait(lambda body: b'"textDocument/publishDiagnostics"' in body and
                         number_of("version", body) in (None, version))


def number_of(key, body):
    """The number under a key. In the text of a string, the quote after the key has a backslash before it."""
    found = re.search(rb'"%s":\s*(\d+)' % key.encode(), body)
    return int(found[1]) if found else None


class Session:
    """One document, and edits of it that come in pairs, so that the text is the same after each measurement."""

    def __init__(self, command, path, pulls=False):
        self.client = Client(command)
        self.pulls = pulls
        self.text = Path(path).read_text(encoding="utf-8")
        self.lines = self.text.split("\n")
        capabilities = {"general": {"positionEncodings": ["utf-8"]},
                        "textDocument": {"publishDiagnostics": {"versionSupport": True}, **({"diagnostic": {}} if pulls else {})}}
        answer = self.client.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.features = answer["result"]["capabilities"]
        sync = self.features.get("textDocumentSync", {})
        self.incremental = (sync if isinstance(sync, int) else sync.get("change")) == 2
        self.client.send({"method": "initialized", "params": {}})
        self.idle = self.memory()
        self.uri = Path(path).resolve().as_uri()
        self.version = 0

    def open(self):
        """Opens the text and waits for diagnostics. Returns the milliseconds from the first byte on."""
        self.version = 1
        data = self.client.frame({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": self.uri, "languageId": "mir", "version": 1, "text": self.text}}})
        return timed(lambda: (self.client.write(data), self.diagnostics()))

    def diagnostics(self):
        """Waits for the diagnostics of the text as it is."""
        if self.pulls:
            return self.client.request("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})
        return self.client.diagnostics(self.version)

    def edit(self, line, column, old, new):
        """The bytes of the message for an edit."""
        self.version += 1
        changed = self.lines[line]
        self.lines[line] = changed[:column] + new + changed[column + len(old):]
        change = {"range": {"start": {"line": line, "character": column},
                            "end": {"line": line, "character": column + len(old)}}, "text": new}
        if not self.incremental:
            change = {"text": "\n".join(self.lines)}
        return self.client.frame({"method": "textDocument/didChange", "params": {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [change]}})

    def change(self, line, column, old, new):
        """Sends an edit and waits for diagnostics. Returns the milliseconds from the first byte on."""
        data = self.edit(line, column, old, new)
        return timed(lambda: (self.client.write(data), self.diagnostics()))

    def complete(self, line, column, old, new):
        """Sends an edit and asks for a completion behind it. Returns the milliseconds from the first byte on."""
        data = self.edit(line, column, old, new)
        return timed(lambda: (self.client.write(data), self.at("completion", line, column + len(new))))

    def memory(self):
        """The pages of the process, in bytes: all, those that are no file's, and the most that there were."""
        status = Path(f"/proc/{self.client.process.pid}/status").read_text(encoding="utf-8")
        return [int(re.search(rf"{key}:\s+(\d+)", status)[1]) * 1024 for key in ("VmRSS", "RssAnon", "VmHWM")]

    def watch_memory(self):
        """Samples the pages that are no file's until the process ends; `anonymous_peak` has the most of them."""
        self.anonymous_peak = 0

        def sample():
            try:
                while True:
                    self.anonymous_peak = max(self.anonymous_peak, self.memory()[1])
            except (OSError, TypeError):  # the process has ended
                return

        threading.Thread(target=sample, daemon=True).start()

    def ask_anything(self):
        """Waits until all that was sent is done."""
        self.at("hover", 0, 0)

    def at(self, method, line, column, more=None):
        """Asks at a place, and returns the bytes of the answer."""
        return self.client.request("textDocument/" + method, {
            "textDocument": {"uri": self.uri}, "position": {"line": line, "character": column}, **(more or {})})


def symbol_text(is_mlir, uses):
    """A graph, or function, that is called so often; each call uses the result of the one before."""
    if is_mlir:
        calls = "".join(f'    %{i + 1} = "func.call"(%{i}) {{callee = @twice}} : (tensor<4xf32>) -> tensor<4xf32>\n'
                        for i in range(uses))
        return ('"builtin.module"() ({\n  "func.func"() ({\n  ^bb0(%a: tensor<4xf32>):\n'
                '    "func.return"(%a) : (tensor<4xf32>) -> ()\n'
                '  }) {sym_name = "twice", function_type = (tensor<4xf32>) -> tensor<4xf32>} : () -> ()\n'
                '  "func.func"() ({\n  ^bb0(%0: tensor<4xf32>):\n' + calls +
                f'    "func.return"(%{uses}) : (tensor<4xf32>) -> ()\n'
                '  }) {sym_name = "main", function_type = (tensor<4xf32>) -> tensor<4xf32>} : () -> ()\n'
                '}) : () -> ()\n')
    value = "tensor<[4], Float32, CPU>"
    calls = "".join(f"    graph.CallGraphOp @twice (%{i}:{value}) -> (%{i + 1}:{value})\n" for i in range(uses))
    return (f"@main [mir_version:1] (%0:{value}) -> (%{uses}:{value}) {{\n    graph.SubGraphOp @twice <CPU> {{\n"
            f"        (%a:{value}) -> (%b:{value}) {{\n            linalg.CPU.AddOp(%a:{value}, %a:{value}) -> (%b:{value})\n"
            f"            cf.ReturnOp (%b:{value}) -> ()\n        }}\n    }}\n{calls}"
            f"    cf.ReturnOp (%{uses}:{value}) -> ()\n}}\n")


def time_symbol(server, is_mlir, repeats, note, uses=1000):
    """References and renaming of a symbol with many uses, asked at one of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("symbol.mlir" if is_mlir else "symbol.mir")
        path.write_text(symbol_text(is_mlir, uses), encoding="utf-8")
        session = Session([server], path)
        session.open()
        line = len(session.lines) // 2
        column = session.lines[line].index("@twice") + 2
        context = {"context": {"includeDeclaration": True}}
        answers = []
        for _ in range(repeats):
            note("references of a symbol with 1,000 uses",
                 timed(lambda: answers.append(session.at("references", line, column, context))))
            expect(json.loads(answers.pop())["result"], uses)
            if "renameProvider" in session.features:
                note("rename of a symbol with 1,000 uses", timed(lambda: answers.append(
                    session.at("rename", line, column, {"newName": "renamed"}))))
                expect(json.loads(answers.pop())["result"]["changes"][session.uri], uses)
        session.client.process.kill()


def expect(places, uses):
    """The uses and perhaps the definition, or the benchmark timed something else."""
    if len(places) not in (uses, uses + 1):
        raise SystemExit(f"{len(places)} places instead of {uses}")


def timed(action):
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def measure(server, file, repeats, pulls):
    """Returns samples in milliseconds by what was timed, and the multiples of the text that memory is."""
    samples = {}

    def note(name, value):
        samples.setdefault(name, []).append(value)

    for _ in range(3):
        session = Session([server], file, pulls)
        note("open to diagnostics", session.open())
    # An op in the middle of the text, and the value that it uses first.
    middle = len(session.lines) // 2
    line = next(at for at in range(middle, len(session.lines))
                if re.search(r'"?[a-z]+\.[A-Za-z.]+"? ?(\[[^(]*\])? ?\(%', session.lines[at]))
    use = session.lines[line].index("(%") + 1
    for _ in range(repeats):
        note("keystroke to an error of syntax", session.change(line, 0, "", "("))
        session.change(line, 0, "(", "")
        session.ask_anything()
        # A value that nothing defines is found by verification alone; one publication tells of it.
        note("keystroke to verification", session.change(line, use + 1, "", "q"))
        session.change(line, use + 1, "q", "")
        note("hover", timed(lambda: session.at("hover", line, use + 2)))
        note("definition", timed(lambda: session.at("definition", line, use + 2)))
        note("completion", timed(lambda: session.at("completion", line, use + 1)))
        note("keystroke to completion", session.complete(line, use + 1, "", "q"))
        session.change(line, use + 1, "q", "")
        if "documentRangeFormattingProvider" in session.features:
            place = {"start": {"line": line, "character": 0}, "end": {"line": line + 5, "character": 0}}
            note("formatting of five lines", timed(lambda: session.at("rangeFormatting", line, 0, {
                "range": place, "options": {"tabSize": 4, "insertSpaces": True}})))
        if "renameProvider" in session.features:
            note("rename", timed(lambda: session.at("rename", line, use + 2, {"newName": "renamed_value"})))
        if "semanticTokensProvider" in session.features:
            note("semantic tokens", timed(lambda: session.client.request(
                "textDocument/semanticTokens/full", {"textDocument": {"uri": session.uri}})))
    time_symbol(server, file.endswith(".mlir"), repeats, note)
    session.ask_anything()
    time.sleep(1)  # what a server gives back when it waits
    *settled, peak = session.memory()
    idle = session.idle[:2]
    session.client.process.kill()
    # Samples of memory cost time, so that they are of another process, which is opened, edited and formatted.
    session = Session([server], file, pulls)
    session.watch_memory()
    session.open()
    session.change(line, use + 1, "", "q")
    session.change(line, use + 1, "q", "")
    session.at("completion", line, use + 1)
    if "documentFormattingProvider" in session.features:
        session.at("formatting", 0, 0, {"options": {"tabSize": 4, "insertSpaces": True}})
    session.client.process.kill()
    size = len(session.text.encode())
    memory = {"no text is open": idle, "settled": settled, "peak": [peak, session.anonymous_peak]}
    return samples, {name: [each / size for each in pages] for name, pages in memory.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("file")
    parser.add_argument("--beside", nargs=2, metavar=("SERVER", "FILE"))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--pull", action="store_true")
    options = parser.parse_args()
    columns = [measure(options.server, options.file, options.repeats, options.pull)]
    if options.beside:
        columns.append(measure(*options.beside, options.repeats, False))

    def show(name, cells):
        print(f"{name:<36}" + "".join(f" {cell:>20}" for cell in cells))

    def pair(values):
        return "  ".join(f"{value:9.2f}" for value in values) if values else "-"

    for name in columns[0][0]:
        timings = [samples.get(name) for samples, _ in columns]
        show(name, [pair(each and [statistics.median(each), min(each)]) for each in timings])
    print("memory of all and of anonymous pages, times the text")
    for name in columns[0][1]:
        show(name, [pair(memory[name]) for _, memory in columns])


if __name__ == "__main__":
    main()
