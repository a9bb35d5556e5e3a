// Prints the ids and the decoded text of texts by the reference library of tokenizers.
//
// usage: node reference.js TOKENIZER.json TEXTS.json [SPECIAL]
// TEXTS.json is a list of strings. Each line of the output is an object {"ids", "text"}. With SPECIAL, special
// tokens are put around the texts.
'use strict';

const fs = require('fs');
const { Tokenizer } = require('@anush008/tokenizers');

async function main([tokenizerFile, textsFile, special]) {
  const tokenizer = Tokenizer.fromFile(tokenizerFile);
  const lines = [];
  for (const text of JSON.parse(fs.readFileSync(textsFile, 'utf8'))) {
    const ids = (await tokenizer.encode(text, null, { addSpecialTokens: special !== undefined })).getIds();
    lines.push(JSON.stringify({ ids: Array.from(ids), text: await tokenizer.decode(ids, false) }));
  }
  fs.writeSync(1, lines.join('\n') + '\n');
}

main(process.argv.slice(2)).catch((error) => {
  console.error(String(error));
  process.exit(1);
});
