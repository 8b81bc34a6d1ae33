/** Options that name states and operators: one line where a name is of none, with the nearest one; in every command, in the library. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSnapshot } from '../../src/index.js';
import { ensureBuilt, ROOT, statequery, WORDCOUNT } from './run.js';

const KINDS = join(ROOT, 'fixtures/snapshots/2.3-kinds-hashmap-native/snapshot');
const OLDER = join(ROOT, 'fixtures/snapshots/1.20-wordcount-rocksdb-canonical/snapshot');

let temp: string;
beforeAll(async () => {
  temp = mkdtempSync(join(tmpdir(), 'statequery-settings-'));
  await ensureBuilt();
});
afterAll(() => rmSync(temp, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(temp, name), text);
  return join(temp, name);
}

const ONE = ['sql', 'SELECT 1 AS a', '--csv'];
const said = (note: string) => ({ code: 0, stdout: 'a\n1\n', stderr: note === '' ? '' : `note: ${note}\n` });

describe('--ttl', () => {
  const cases: readonly (readonly [setting: string, note: string])[] = [
    ['ttl-value=1h', ''],
    ['kinds-uid.ttl-map=1h', ''],
    ['ttl-vaule=1h', "--ttl ttl-vaule: no state is called 'ttl-vaule'; did you mean 'ttl-value'?"],
    ['kinds-uid.ttl-lits=1h', "--ttl kinds-uid.ttl-lits: operator kinds-uid has no state 'ttl-lits'; did you mean 'ttl-list'?"],
    ['kind-uid.ttl-map=1h', "--ttl kind-uid.ttl-map: no operator is called 'kind-uid'; did you mean 'kinds-uid'?"],
    ['other.ttl-map=1h', "--ttl other.ttl-map: no operator is called 'other'; did you mean 'kinds-uid'?"],
    ['zzz=1h', "--ttl zzz: no state is called 'zzz'; SELECT state_name FROM state_meta lists them"],
    ['SourceReaderState=1h', '--ttl SourceReaderState: the state has no TTL, so ttl_expires_at stays NULL'],
  ];
  it.each(cases)('%s', async (setting, note) => {
    expect(await statequery([...ONE, KINDS, '--ttl', setting])).toEqual(said(note));
  });
  it('in every command that opens a snapshot, and not with -q', async () => {
    const note = "note: --ttl nope: no state is called 'nope'; there are count, _timer_state/processing_user-timers";
    for (const args of [
      ['meta', WORDCOUNT],
      ['tables', WORDCOUNT],
      ['schema', WORDCOUNT, 'operators'],
      ['find', 'key_662', WORDCOUNT],
      ['verify', WORDCOUNT],
      ['files', WORDCOUNT],
      ['shell', WORDCOUNT],
    ]) {
      const ran = await statequery([...args, '--ttl', 'nope=1h']);
      expect([args[0], ran.code, ran.stderr.split('\n').filter(line => line.startsWith(note)).length]).toEqual([args[0], 0, 1]);
      expect((await statequery([...args, '--ttl', 'nope=1h', '-q'])).stderr).toBe('');
    }
  });
  it('in the library: to `warn`', () => {
    const warnings: string[] = [];
    openSnapshot(WORDCOUNT, { ttl: [{ state: 'cuont', millis: 1n }], warn: message => void warnings.push(message) }).close();
    expect(warnings).toEqual(["--ttl cuont: no state is called 'cuont'; did you mean 'count'?"]);
  });
});

describe('--proto-type', () => {
  it('names states', async () => {
    const proto = file('a.proto', 'syntax = "proto3"; message A { int64 n = 1; }');
    const with_ = (type: string) => statequery([...ONE, WORDCOUNT, '--proto', proto, '--proto-type', type]);
    expect(await with_('SourceReaderState=A')).toEqual(said(''));
    expect(await with_('SourceReaderstate=A')).toEqual(
      said("--proto-type SourceReaderstate: no state is called 'SourceReaderstate'; did you mean 'SourceReaderState'?"),
    );
    expect(await with_('words.Reader=A')).toEqual(
      said("--proto-type words.Reader: operator words has no state 'Reader'; there are SourceReaderState"),
    );
    expect(await with_('count=A')).toEqual(said('--proto-type count=A: the state holds BIGINT, no bytes'));
  });
});

describe('--names', () => {
  it('names operators and states', async () => {
    const names = file('names.yaml', 'operators:\n  word-cont: {}\n  word-count:\n    states:\n      coun: {key: {f0: x}}\n');
    expect(await statequery([...ONE, WORDCOUNT, '--names', names])).toEqual({
      code: 0,
      stdout: 'a\n1\n',
      stderr: `note: ${names}, line 2: there is no operator word-cont in the snapshot; did you mean word-count?\nnote: the file ${names}: operator word-count has no state 'coun'; did you mean 'count'?\n`,
    });
  });
});

describe('--uids', () => {
  it('are of operators', async () => {
    const uids = (text: string) => file('uids', text);
    const run = (path: string) => statequery([...ONE, OLDER, '--uids', path]);
    expect(await run(uids('word-count\nwords\n'))).toEqual(said(''));
    const some = uids('word-count\nsink\n');
    expect(await run(some)).toEqual(said(`${some}: 1 of 2 uids match no operator of the snapshot: sink`));
    const none = uids('a\nb\n');
    expect(await run(none)).toEqual(said(`${none}: none of its uids is of an operator of the snapshot`));
    const near = uids('word-counts\nwords\n');
    expect(await statequery([...ONE, WORDCOUNT, '--uids', near])).toEqual(
      said(`${near}: 1 of 2 uids match no operator of the snapshot: word-counts; did you mean word-count?`),
    );
  });
});

describe('--plan', () => {
  it('of another job is told', async () => {
    const plan = file(
      'plan.json',
      JSON.stringify({
        flinkVersion: '2.0',
        nodes: [{ id: 7, type: 'stream-exec-sink_1', description: 'Sink(table=[x])', inputProperties: [], outputType: 'ROW<`a` INT>' }],
        edges: [],
      }),
    );
    expect(await statequery([...ONE, WORDCOUNT, '--plan', plan])).toEqual(said(`${plan}: no operator of the plan is in the snapshot`));
  });
});
