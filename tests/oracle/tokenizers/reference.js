// Prints the ids and the decoded text of texts by the reference library of tokenizers.
//
// usage: node reference.js TEXTS.json SPECIAL TOKENIZER.json...
// TEXTS.json is a list of strings. Each line of the output is a list for one tokenizer, with an object {"ids", "text"}
// for each text, or the message of an error. If SPECIAL is 1, special tokens are put around the texts.
'use strict';

const fs = require('fs');
const { Tokenizer } = require('@anush008/tokenizers');

async function results(file, texts, addSpecialTokens) {
  const tokenizer = Tokenizer.fromFile(file);
  const list = [];
  for (const text of texts) {
    const ids = (await tokenizer.encode(text, null, { addSpecialTokens })).getIds();
    list.push({ ids: Array.from(ids), text: await tokenizer.decode(ids, false) });
  }
  return list;
}

async function main([textsFile, special, ...files]) {
  const texts = JSON.parse(fs.readFileSync(textsFile, 'utf8'));
  for (const file of files) {
    const line = await results(file, texts, special === '1').catch((error) => String(error));
    fs.writeSync(1, JSON.stringify(line) + '\n');
  }
}

main(process.argv.slice(2));
