/** Runs the built command on the fixture of `npm start`, and keeps what V8 compiled for it: dist/cli.cache. */
const { existsSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { load } = require('../bin/load.js');

const root = join(__dirname, '..');
const snapshot = join(root, 'fixtures/snapshots/2.3-wordcount-rocksdb-canonical/snapshot');
const RUNS = [
  ['meta', snapshot],
  ['tables', snapshot, '-q'],
  ['schema', snapshot, 'keyed_state', '--json'],
  ['sql', "SELECT * FROM keyed_state WHERE key = 'key_662'", snapshot],
  ['sql', 'SELECT state_name, count(*) FROM keyed_state GROUP BY ALL', snapshot, '-o', 'ndjson'],
];

async function warm() {
  const { main, script, id } = load();
  process.stdout.write = process.stderr.write = (_bytes, encoding, done) => {
    const callback = typeof encoding === 'function' ? encoding : done;
    callback?.();
    return true;
  };
  if (existsSync(snapshot)) for (const args of RUNS) await main(args);
  const data = script.createCachedData();
  const file = join(root, `dist/cli.cache.${process.pid}`);
  writeFileSync(file, Buffer.concat([Buffer.from(id, 'latin1'), data]));
  renameSync(file, join(root, 'dist/cli.cache'));
}

warm().then(() => process.exit(0));
