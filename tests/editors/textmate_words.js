// Prints the colours of words under a TextMate grammar, run by its own engine.
//
// Reads JSON from standard input: {grammar, scopes, files: [{path, words: [[line, column in bytes], ...]}]}, and writes
// for each file the scope of each word that is in `scopes`, the innermost one.
const fs = require("fs");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

async function main() {
  const job = JSON.parse(fs.readFileSync(0, "utf8"));
  const wasm = path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm).buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(job.grammar, "utf8"), job.grammar),
  });
  const grammar = await registry.loadGrammar("source.mir");
  const scopes = new Set(job.scopes);
  const answer = job.files.map((file) => {
    const lines = fs.readFileSync(file.path, "utf8").replace(/^\ufeff/, "").split(/\r?\n/);
    let stack = textmate.INITIAL;
    let next = 0;
    const found = [];
    lines.forEach((line, index) => {
      const result = grammar.tokenizeLine(line, stack);
      stack = result.ruleStack;
      let token = 0;
      for (; next < file.words.length && file.words[next][0] === index + 1; ++next) {
        const before = Buffer.from(line).subarray(0, file.words[next][1] - 1).toString().length;
        while (token + 1 < result.tokens.length && result.tokens[token].endIndex <= before) ++token;
        const known = result.tokens[token].scopes.filter((scope) => scopes.has(scope));
        found.push(known.length ? known[known.length - 1] : null);
      }
    });
    return found;
  });
  process.stdout.write(JSON.stringify(answer));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
