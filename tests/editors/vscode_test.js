// Drives mllm-lsp with the libraries of Visual Studio Code: its connection, its types and its text documents, which
// apply the edits that the server sends. MIR_FILE is a copy of a real file.
const { spawn } = require("child_process");
const fs = require("fs");
const { pathToFileURL } = require("url");
const { isDeepStrictEqual } = require("util");
const protocol = require("vscode-languageserver-protocol/node");
const { TextDocument } = require("vscode-languageserver-textdocument");

const languageId = "mir";
const uri = pathToFileURL(process.env.MIR_FILE).href;
const steps = JSON.parse(fs.readFileSync(process.env.MIR_EDITS, "utf8"));

function check(condition, message) {
  if (!condition) throw new Error(message);
}

const server = spawn(process.env.MIR_SERVER, [], { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createProtocolConnection(server.stdout, server.stdin);
let text = TextDocument.create(uri, languageId, 1, fs.readFileSync(process.env.MIR_FILE, "utf8"));
let shown = [];
let heard = () => {};
let settings = [];

connection.onNotification(protocol.PublishDiagnosticsNotification.type, (found) => {
  shown = found.diagnostics.map((each) => [each.range.start.line, each.message.split("\n")[0]]);
  shown.sort((a, b) => a[0] - b[0] || (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0));
  heard();
});
connection.onRequest(protocol.RegistrationRequest.type, () => {});
connection.onRequest(protocol.ConfigurationRequest.type, (asked) => {
  settings.push(asked.items);
  return [{ weights: [] }];
});
connection.listen();

// Waits until the findings are those that are expected.
function findings(step) {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      const found = JSON.stringify(shown);
      reject(new Error(`${step.title}: ${found} is shown instead of ${JSON.stringify(step.findings)}`));
    }, 5000);
    heard = () => {
      if (!isDeepStrictEqual(shown, step.findings)) return;
      clearTimeout(limit);
      heard = () => {};
      resolve();
    };
    heard();
  });
}

// A column in characters as one in UTF-16.
function position(place) {
  const begin = text.offsetAt({ line: place.line, character: 0 });
  const line = [...text.getText().slice(begin)].slice(0, place.column).join("");
  return { line: place.line, character: line.length };
}

function change(changes) {
  text = TextDocument.update(text, changes, text.version + 1);
  const textDocument = { uri, version: text.version };
  return connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, { textDocument, contentChanges: changes });
}

// Applies edits of the server from the last to the first, as the editor does.
function apply(edits) {
  const sorted = [...edits].sort((a, b) => text.offsetAt(b.range.start) - text.offsetAt(a.range.start));
  return change(sorted.map((edit) => ({ range: edit.range, text: edit.newText })));
}

async function run() {
  const capabilities = {
    workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } },
    textDocument: { publishDiagnostics: { relatedInformation: true }, rename: { prepareSupport: true } },
  };
  await connection.sendRequest(protocol.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities, workspaceFolders: null });
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  const textDocument = { uri };
  await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId, version: 1, text: text.getText() },
  });
  const original = text.getText();
  check(steps.length >= 20, `there are only ${steps.length} edits`);
  for (const step of steps) {
    const range = { start: position(step.begin), end: position(step.end) };
    if (step.title === "apply the fix") {
      const context = { diagnostics: [], only: ["quickfix"] };
      const fixes = await connection.sendRequest(protocol.CodeActionRequest.type, { textDocument, range, context });
      check(fixes.length === 1, `${fixes.length} fixes`);
      await apply(fixes[0].edit.changes[uri]);
    } else {
      await change([{ range, text: step.text }]);
    }
    await findings(step);
  }
  check(text.getText() === original, "the edits do not end where they began");

  // Renaming and its way back, then the layout of a text that lost it.
  const use = text.positionAt(text.getText().indexOf("AddOp(%") + 7);
  for (const newName of ["renamed", "44"]) {
    const renamed = await connection.sendRequest(protocol.RenameRequest.type, { textDocument, position: use, newName });
    await apply(renamed.changes[uri]);
  }
  check(text.getText() === original, "renaming twice does not bring the text back");
  await change([{ text: original.replaceAll("\n    ", "\n  ") }]);
  const options = { tabSize: 4, insertSpaces: true };
  await apply(await connection.sendRequest(protocol.DocumentFormattingRequest.type, { textDocument, options }));
  check(text.getText() === original, "formatting does not restore the layout");

  await connection.sendNotification(protocol.DidChangeConfigurationNotification.type, { settings: null });
  await connection.sendRequest(protocol.HoverRequest.type, { textDocument, position: use });
  check(isDeepStrictEqual(settings, [[{ section: "mllm-ir" }]]), `the server asks for ${JSON.stringify(settings)}`);

  const ended = new Promise((resolve) => server.on("exit", resolve));
  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  const status = await ended;
  check(status === 0, `the server ends with status ${status}`);
}

run().then(
  () => process.exit(0),
  (error) => {
    console.error(error.message);
    server.kill();
    process.exit(1);
  },
);
