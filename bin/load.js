/**
 * Loads dist/cli.cjs with the code that V8 compiled when it was built (dist/cli.cache): a third of the start-up time. The cache belongs
 * to one build and one version of V8; where it does not fit, the bundle is compiled as usual.
 *
 *   cli.cache   16 ASCII digits, the build id that cli.cjs begins with after `//` · the cached data
 */
const { readFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const ID_LENGTH = 16;

/** @returns {{ main: (args: string[]) => Promise<number>, script: Script, id: string }} */
function load(directory = join(__dirname, '../dist')) {
  const filename = join(directory, 'cli.cjs');
  const source = bundle(filename);
  const id = source.slice(2, 2 + ID_LENGTH);
  const script = new Script(wrap(source), { filename, cachedData: cachedData(join(directory, 'cli.cache'), id) });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, dirname(filename));
  return { main: module.exports.main, script, id };
}

function bundle(file) {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    process.stderr.write(`error: statequery is not built (${error.message})\nhint: npm ci, or npm run build\n`);
    process.exit(1);
  }
}

function cachedData(file, id) {
  try {
    const bytes = readFileSync(file);
    return bytes.latin1Slice(0, ID_LENGTH) === id ? bytes.subarray(ID_LENGTH) : undefined;
  } catch {
    return undefined;
  }
}

module.exports = { load };
