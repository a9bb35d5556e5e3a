// Starts the language server and connects it with the editor.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const run = "mllm-ir.run";
const check = "mllm-ir.check";
let client;

// Tells the server that the client runs graphs and tests, so that it shows the lenses and actions.
const runsGraphs = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = { ...capabilities.experimental, commands: { commands: [run, check] } };
  },
  initialize() {},
  getState() {
    return { kind: "static" };
  },
  clear() {},
};

// Runs a tool in a terminal. The arguments are a list and need no quotes.
function runTool(setting, tool, title, list) {
  const program = vscode.workspace.getConfiguration("mllm-ir").get(setting, tool);
  const execution = new vscode.ProcessExecution(program, list);
  const definition = { type: "process" };
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, title, "mllm-ir", execution);
  return vscode.tasks.executeTask(task);
}

function runGraph(list) {
  return runTool("interpreter", "mllm-interp", "run a graph", list);
}

function runTest(list) {
  return runTool("checker", "mllm-check", "run a test", list);
}

function createClient() {
  const settings = vscode.workspace.getConfiguration("mllm-ir");
  const command = settings.get("server", "mllm-lsp");
  const options = {
    documentSelector: [{ language: "mir" }],
    initializationOptions: { weights: settings.get("weights", []) },
  };
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
  context.subscriptions.push(vscode.commands.registerCommand(check, runTest));
  await start();
}

module.exports = { activate, deactivate: stop };
