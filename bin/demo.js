#!/usr/bin/env node
/** `npm start`: three questions that a savepoint answers, each with the command that asks. The savepoint was written by Flink 2.3. */
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join, relative } = require('node:path');

const root = join(__dirname, '..');
const snapshot = 'fixtures/snapshots/2.3-wordcount-rocksdb-canonical/snapshot';

const STORIES = [
  ["What is in this job's state?", ['meta', snapshot]],
  [
    'Which offsets had the source read?',
    ['sql', "SELECT value.f0 AS split, value.f1 AS next_offset FROM operator_state WHERE state_name = 'offsets' ORDER BY split", snapshot],
  ],
  [
    'Why is the result of key_662 what it is?',
    ['sql', "SELECT operator_uid, state_name, key, value, key_group, subtask_index FROM keyed_state WHERE key = 'key_662'", snapshot],
  ],
];

const shown = args => args.map(arg => (/^[\w./-]+$/.test(arg) ? arg : `"${arg}"`)).join(' ');

if (!existsSync(join(root, 'dist/cli.cjs'))) {
  process.stderr.write('dist/ is not built: run npm ci, or npm run build\n');
  process.exit(2);
}
for (const [question, args] of STORIES) {
  process.stdout.write(`# ${question}\n$ statequery ${shown(args)}\n`);
  const { status } = spawnSync(process.execPath, [join(root, 'bin/statequery.js'), ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  process.stdout.write('\n');
}
process.stdout.write(`More: npx . sql "FROM state_meta" ${relative(process.cwd(), join(root, snapshot)) || '.'}, and README.md\n`);
