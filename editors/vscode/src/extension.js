// Starts the language server and connects it with the editor.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function createClient() {
  const command = vscode.workspace.getConfiguration("mllm-ir").get("server", "mllm-lsp");
  const options = { documentSelector: [{ language: "mir" }] };
  return new LanguageClient("mllm-ir", "MLLM IR", { command }, options);
}

async function start() {
  client = createClient();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`The language server did not start: ${error.message}. Set "mllm-ir.server".`);
  }
}

async function stop() {
  const stopping = client;
  client = undefined;
  if (stopping !== undefined && stopping.needsStop()) await stopping.stop();
}

async function activate(context) {
  const restart = vscode.commands.registerCommand("mllm-ir.restart", async () => {
    await stop();
    await start();
  });
  context.subscriptions.push(restart);
  await start();
}

module.exports = { activate, deactivate: stop };
