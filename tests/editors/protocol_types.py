#!/usr/bin/env python3
"""Checks what the language server sends against the types of the protocol's official npm package.

usage: protocol_types.py TOOLS FILE

Records sessions with a client that can do much and one that can do nothing, on FILE, on a dump, and on a text with
mistakes. Each message becomes a constant of its type in a TypeScript file, which the compiler checks. Exits with 77 if
Node.js or the packages are missing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77
REQUESTS = {
    "initialize": "InitializeRequest",
    "shutdown": "ShutdownRequest",
    "codeAction/resolve": "CodeActionResolveRequest",
    "callHierarchy/incomingCalls": "CallHierarchyIncomingCallsRequest",
    "callHierarchy/outgoingCalls": "CallHierarchyOutgoingCallsRequest",
    "workspace/symbol": "WorkspaceSymbolRequest",
    "workspace/diagnostic/refresh": "DiagnosticRefreshRequest",
    "client/registerCapability": "RegistrationRequest",
    "workspace/configuration": "ConfigurationRequest",
    "window/workDoneProgress/create": "WorkDoneProgressCreateRequest",
    "textDocument/hover": "HoverRequest",
    "textDocument/definition": "DefinitionRequest",
    "textDocument/references": "ReferencesRequest",
    "textDocument/documentHighlight": "DocumentHighlightRequest",
    "textDocument/documentSymbol": "DocumentSymbolRequest",
    "textDocument/prepareRename": "PrepareRenameRequest",
    "textDocument/rename": "RenameRequest",
    "textDocument/completion": "CompletionRequest",
    "textDocument/signatureHelp": "SignatureHelpRequest",
    "textDocument/semanticTokens/full": "SemanticTokensRequest",
    "textDocument/semanticTokens/full/delta": "SemanticTokensDeltaRequest",
    "textDocument/semanticTokens/range": "SemanticTokensRangeRequest",
    "textDocument/diagnostic": "DocumentDiagnosticRequest",
    "textDocument/foldingRange": "FoldingRangeRequest",
    "textDocument/selectionRange": "SelectionRangeRequest",
    "textDocument/inlayHint": "InlayHintRequest",
    "textDocument/formatting": "DocumentFormattingRequest",
    "textDocument/rangeFormatting": "DocumentRangeFormattingRequest",
    "textDocument/onTypeFormatting": "DocumentOnTypeFormattingRequest",
    "textDocument/codeAction": "CodeActionRequest",
    "textDocument/codeLens": "CodeLensRequest",
    "textDocument/documentLink": "DocumentLinkRequest",
    "textDocument/prepareCallHierarchy": "CallHierarchyPrepareRequest",
}
NOTIFICATIONS = {
    "textDocument/publishDiagnostics": "PublishDiagnosticsNotification",
    "window/showMessage": "ShowMessageNotification",
    "window/logMessage": "LogMessageNotification",
    "initialized": "InitializedNotification",
    "textDocument/didOpen": "DidOpenTextDocumentNotification",
    "textDocument/didChange": "DidChangeTextDocumentNotification",
    "textDocument/didClose": "DidCloseTextDocumentNotification",
    "workspace/didChangeConfiguration": "DidChangeConfigurationNotification",
}
# The types of parameters and results, and messages that the compiler must refuse.
HEAD = """import * as P from "vscode-languageserver-protocol";
type ParamsOf<T> =
  T extends P.ProtocolRequestType<infer X, any, any, any, any> ? X
  : T extends P.ProtocolRequestType0<any, any, any, any> ? undefined
  : T extends P.ProtocolNotificationType<infer X, any> ? X : never;
type ResultOf<T> =
  T extends P.ProtocolRequestType<any, infer X, any, any, any> ? X
  : T extends P.ProtocolRequestType0<infer X, any, any, any> ? X : never;
// @ts-expect-error
export const wrongType: ResultOf<typeof P.HoverRequest.type> = { contents: 3 };
// @ts-expect-error
export const wrongKey: ParamsOf<typeof P.PublishDiagnosticsNotification.type> = { uri: "", diagnostics: [], other: 1 };
"""
PROGRESS = "{ token: P.ProgressToken; value: P.WorkDoneProgressBegin | P.WorkDoneProgressEnd }"
ABLE = {
    "general": {"positionEncodings": ["utf-8", "utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "diagnostics": {"refreshSupport": True},
                  "configuration": True, "didChangeConfiguration": {"dynamicRegistration": True},
                  "didChangeWatchedFiles": {"dynamicRegistration": True}},
    "textDocument": {
        "codeAction": {"resolveSupport": {"properties": ["edit"]}},
        "diagnostic": {},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "publishDiagnostics": {"relatedInformation": True},
        "rename": {"prepareSupport": True},
    },
    "experimental": {"commands": {"commands": ["mllm-ir.run", "mllm-ir.check"]}},
}
BROKEN = """@main [mir_version:1] (%x:tensor<[2, 4], Float32, CPU>) -> (%y:tensor<[2, 4], Float32, CPU>) {
    linalg.CPU.AdOp(%x, %x) -> (%y)
    linalg.CPU.AddOp(%x, %z) -> (%y
    cf.ReturnOp (%y) -> ()
}
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Session:
    """Talks with a server, and keeps each message with its type."""

    def __init__(self, server, capabilities):
        self.process = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.constants = []
        self.last = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.tell("initialized", {})

    def write(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def keep(self, of, name, value):
        self.constants.append((f"{of}<typeof P.{name}.type>", value))

    def receive(self):
        """A message that is no request or notification."""
        while "method" in (message := self.read()):
            method = message["method"]
            if method == "$/progress":
                self.constants.append((PROGRESS, message["params"]))
                continue
            table = REQUESTS if "id" in message else NOTIFICATIONS
            if "params" in message:
                self.keep("ParamsOf", table[method], message["params"])
            if "id" in message:
                self.write({"id": message["id"], "result": None})
        return message

    def tell(self, method, params):
        self.keep("ParamsOf", NOTIFICATIONS[method], params)
        self.write({"method": method, "params": params})

    def ask(self, method, params=None):
        self.last += 1
        if params is not None:
            self.keep("ParamsOf", REQUESTS[method], params)
        self.write({"id": self.last, "method": method, **({} if params is None else {"params": params})})
        answer = self.receive()
        if "error" in answer:
            self.constants.append(("{ code: number; message: string; data?: unknown }", answer["error"]))
            return None
        if method != "shutdown":  # null, for which TypeScript has void
            self.keep("ResultOf", REQUESTS[method], answer["result"])
        return answer["result"]

    def use(self, uri, text, pulls):
        """Opens a text and asks all there is about some of its lines."""
        document = {"uri": uri}
        self.tell("textDocument/didOpen",
                  {"textDocument": {"uri": uri, "languageId": "mir", "version": 1, "text": text}})
        lines = text.split("\n")
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines), "character": 0}}
        options = {"tabSize": 4, "insertSpaces": True}
        of = lambda method, **more: self.ask(f"textDocument/{method}", {"textDocument": document, **more})
        first = {}
        for number, line in enumerate(lines):
            first.setdefault("".join(line.split("(")[0].split()[:1]), number)  # one of each op
        for number in first.values():
            line = lines[number]
            places = {line.find(part) + len(part) - 1 for part in ("@", "%", "Op", "[", "(", ":") if part in line}
            for place in [{"line": number, "character": character} for character in sorted(places)]:
                for method in ("hover", "definition", "documentHighlight", "prepareRename", "completion",
                               "signatureHelp"):
                    of(method, position=place)
                of("references", position=place, context={"includeDeclaration": True})
                of("rename", position=place, newName="other")
                of("selectionRange", positions=[place])
                of("onTypeFormatting", position=place, ch="}", options=options)
                for item in of("prepareCallHierarchy", position=place) or []:
                    self.ask("callHierarchy/incomingCalls", {"item": item})
                    self.ask("callHierarchy/outgoingCalls", {"item": item})
                here = {"start": place, "end": place}
                for action in of("codeAction", range=here, context={"diagnostics": [], "only": ["refactor"]}) or []:
                    if "data" in action and "edit" not in action:
                        self.ask("codeAction/resolve", action)
        of("codeAction", range=whole, context={"diagnostics": []})
        for method in ("documentSymbol", "foldingRange", "codeLens"):
            of(method)
        tokens = of("semanticTokens/full", workDoneToken="tokens")
        of("semanticTokens/full/delta", previousResultId=tokens["resultId"])
        for method in ("semanticTokens/range", "inlayHint"):
            of(method, range=whole)
        of("formatting", options=options)
        of("rangeFormatting", range=whole, options=options)
        if pulls:
            of("diagnostic")
        self.tell("workspace/didChangeConfiguration", {"settings": None})
        self.ask("workspace/symbol", {"query": "mlp"})
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2},
                                             "contentChanges": [{"range": whole, "text": text + "// end\n"}]})
        of("documentSymbol")
        self.tell("textDocument/didClose", {"textDocument": document})

    def end(self):
        self.ask("shutdown")
        self.write({"method": "exit"})
        if self.process.wait(timeout=10) != 0:
            sys.exit(f"the server ends with status {self.process.returncode}")


def record(server, files):
    constants = []
    for capabilities in (ABLE, {}):
        session = Session(server, capabilities)
        for uri, text in files:
            session.use(uri, text, bool(capabilities))
        session.end()
        constants += session.constants
    return constants


def main(tools, file):
    modules = Path(os.environ.get("NODE_PATH", HERE / "node_modules"))
    compiler = modules / "typescript" / "lib" / "tsc.js"
    if shutil.which("node") is None or not compiler.exists() or not (modules / "vscode-languageserver-protocol").exists():
        skip("node with the packages typescript and vscode-languageserver-protocol is missing: run npm ci "
             "--ignore-scripts in tests/editors, or set NODE_PATH")
    paths = [Path(file).resolve(), ROOT / "testdata/examples/foo_net.mir"]
    files = [(path.as_uri(), path.read_text(encoding="utf-8")) for path in paths] + [("untitled:broken", BROKEN)]
    constants = record(str(Path(tools).resolve() / "mllm-lsp"), files)
    distinct = list(dict.fromkeys((of, json.dumps(value)) for of, value in constants))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "node_modules").symlink_to(modules.resolve())
        lines = [f"export const c{i}: {of} = {value};\n" for i, (of, value) in enumerate(distinct)]
        source = Path(folder) / "session.ts"
        source.write_text(HEAD + "".join(lines), encoding="utf-8")
        done = subprocess.run(["node", str(compiler), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022",
                               "--module", "node16", "--moduleResolution", "node16", str(source)],
                              capture_output=True, text=True, check=False)
        print(f"{len(constants)} messages, {len(distinct)} distinct; status of the compiler {done.returncode}")
        for problem in done.stdout.splitlines()[:20]:
            print(problem)
        sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
