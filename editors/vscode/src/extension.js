// Starts the language server and connects it with the editor.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const run = "mllm-ir.run";
let client;

// Tells the server that the client runs graphs, so that it shows the lenses.
const runsGraphs = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [run] } };
  },
  initialize() {},
  getState() {
    return { kind: "static" };
  },
  clear() {},
};

// Runs mllm-interp in a terminal. The arguments are a list and need no quotes.
function runGraph(list) {
  const interpreter = vscode.workspace.getConfiguration("mllm-ir").get("interpreter", "mllm-interp");
  const execution = new vscode.ProcessExecution(interpreter, list);
  const definition = { type: "process" };
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, "run a graph", "mllm-ir", execution);
  return vscode.tasks.executeTask(task);
}

function createClient() {
  const command = vscode.workspace.getConfiguration("mllm-ir").get("server", "mllm-lsp");
  const options = { documentSelector: [{ language: "mir" }] };
  const created = new LanguageClient("mllm-ir", "MLLM IR", { command }, options);
  created.registerFeature(runsGraphs);
  return created;
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
  context.subscriptions.push(restart, vscode.commands.registerCommand(run, runGraph));
  await start();
}

module.exports = { activate, deactivate: stop };
