/** Handles of RocksDB instances: key groups, keys, and what can be wrong with their files. */
import { describe, expect, it } from 'vitest';
import type { IncrementalHandle, LocalFile, StreamHandle } from '../../src/checkpoint/handles.js';
import { CorruptError, NotFoundError, type StateQueryError, UnsupportedError } from '../../src/errors.js';
import { memorySource, ReadStats } from '../../src/io/source.js';
import type { EntryFilter, KeyedStateReader, StateContext } from '../../src/state/entry.js';
import { openRocksdbState } from '../../src/state/rocksdb.js';
import {
  boundsOf,
  bytesOf,
  concat,
  DELETE,
  edit,
  encodeLog,
  encodeTable,
  PUT,
  type Range,
  type TableForm,
  type Version,
} from './encoder.js';

const i16 = (n: number) => Uint8Array.of(n >> 8, n & 0xff);
const i32 = (n: number) => Uint8Array.of(n >>> 24, (n >>> 16) & 0xff, (n >>> 8) & 0xff, n & 0xff);
const utf = (text: string) => concat(i16(text.length), bytesOf(text));
const BASE = 'org.apache.flink.api.common.typeutils.base';
const snapshot = (serializer: string) => concat(i32(2), utf(`${BASE}.${serializer}$${serializer}Snapshot`), i32(3));
const VOID = concat(i32(2), utf('org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot'), i32(3));
const state = (name: string) =>
  concat(
    utf(name),
    i32(0),
    i32(1),
    utf('KEYED_STATE_TYPE'),
    utf('VALUE'),
    i32(2),
    utf('NAMESPACE_SERIALIZER'),
    VOID,
    utf('VALUE_SERIALIZER'),
    snapshot('StringSerializer'),
  );
/** keyed state of string keys and values, void namespaces */
const meta = (...names: readonly string[]) =>
  concat(i32(6), Uint8Array.of(0), snapshot('StringSerializer'), i16(names.length), ...names.map(state));
const text = (s: string) => concat(Uint8Array.of(s.length + 1), bytesOf(s));

interface Instance {
  readonly files: Map<string, Uint8Array>;
  readonly first?: number;
  readonly count?: number;
  readonly maxParallelism?: number;
  readonly meta?: Uint8Array;
}

/** Opens an instance whose files are bytes; those with null are listed and missing. */
function open(instance: Instance) {
  const stats = new ReadStats();
  const warnings: string[] = [];
  const stream = (name: string): StreamHandle => ({ kind: 'file', path: `/shared/${name}`, size: instance.files.get(name)?.length ?? 0 });
  const local = (name: string): LocalFile => ({ localName: name, stream: stream(name) });
  const names = [...instance.files.keys()];
  const handle: IncrementalHandle = {
    kind: 'incremental',
    tag: 11,
    checkpointId: 1,
    backendId: 'x',
    range: { first: instance.first ?? 0, count: instance.count ?? 128 },
    meta: { kind: 'inline', name: 'meta', bytes: instance.meta ?? meta('value'), offset: 0 },
    shared: names.filter(n => n.endsWith('.sst')).map(local),
    private: names.filter(n => !n.endsWith('.sst')).map(local),
  };
  const context: StateContext = {
    open(s) {
      if (s.kind === 'inline') return memorySource(s.bytes, '_metadata', s.offset, stats);
      const path = 'path' in s ? s.path : '';
      const bytes = instance.files.get(path.slice('/shared/'.length));
      if (bytes === undefined || bytes.length === 0) throw new NotFoundError('no such file', { file: path }, 'STATE_FILE_MISSING');
      return memorySource(bytes, path, 0, stats);
    },
    maxParallelism: instance.maxParallelism ?? 128,
    codecs: {},
    where: 'operator abc (my-uid), subtask 3',
    verify: true,
    warn: message => void warnings.push(message),
  };
  return { stats, warnings, reader: openRocksdbState(handle, context) };
}

/** `state/key group/key=value` of each entry. */
function rows(reader: KeyedStateReader, filter: EntryFilter = {}): string[] {
  const cursor = reader.entries(filter);
  const out: string[] = [];
  const latin = (start: number, end: number) => Buffer.from(cursor.bytes.subarray(start, end)).toString('latin1');
  while (cursor.next()) {
    const key = latin(cursor.keyStart + (cursor.keyEnd > cursor.keyStart ? 1 : 0), cursor.keyEnd);
    out.push(`${cursor.state}/${cursor.keyGroup}/${key}=${latin(cursor.valueStart + 1, cursor.valueEnd)}`);
    expect(cursor.base).toBe(-1);
    expect(cursor.namespaceEnd - cursor.namespaceStart).toBe(filter.split === false && filter.keys === undefined ? 0 : 1);
  }
  cursor.close();
  return out;
}

const entry = (keyGroup: readonly number[], key: string, value: string, sequence = 1): Version => ({
  key: concat(Uint8Array.from(keyGroup), text(key), Uint8Array.of(0)),
  sequence: BigInt(sequence),
  type: value === '' ? DELETE : PUT,
  value: value === '' ? new Uint8Array(0) : text(value),
});

interface TableOf {
  readonly family: number;
  readonly level?: number;
  readonly versions: readonly Version[];
  readonly form?: TableForm;
  readonly ranges?: readonly Range[];
}

/** The files of a database: tables 12, 13, …, in column families `names` from 1 on. */
function database(names: readonly string[], tables: readonly TableOf[]): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const records = [
    concat(edit.comparator('leveldb.BytewiseComparator'), edit.logNumber(5), edit.lastSequence(100n)),
    ...names.map((name, i) => concat(edit.columnFamily(i + 1), edit.addColumnFamily(name))),
  ];
  tables.forEach(({ family, level, versions, form, ranges }, i) => {
    const bytes = encodeTable(versions, { columnFamily: names[family - 1], rangeDeletions: ranges ?? [], ...form });
    files.set(`0000${12 + i}.sst`, bytes);
    records.push(
      concat(
        edit.columnFamily(family),
        edit.newFile({ level: level ?? 0, number: 12 + i, size: bytes.length, ...boundsOf(versions, ranges) }),
      ),
    );
  });
  files.set('MANIFEST-000004', encodeLog(records));
  files.set('CURRENT', bytesOf('MANIFEST-000004\n'));
  return files;
}

const SIMPLE: TableOf = {
  family: 1,
  versions: [entry([2], 'a', 'A'), entry([3], 'b', 'B'), entry([3], 'c', 'C'), entry([5], 'd', 'D'), entry([7], 'e', 'E')],
};

describe('key groups', () => {
  it('are those of the handle, whatever else the database holds', () => {
    const files = database(['value'], [SIMPLE]);
    expect(rows(open({ files }).reader)).toEqual(['0/2/a=A', '0/3/b=B', '0/3/c=C', '0/5/d=D', '0/7/e=E']);
    expect(rows(open({ files, first: 3, count: 3 }).reader)).toEqual(['0/3/b=B', '0/3/c=C', '0/5/d=D']);
    expect(rows(open({ files, first: 6, count: 1 }).reader)).toEqual([]);
    expect(rows(open({ files, first: 3, count: 0 }).reader)).toEqual([]);
    expect(rows(open({ files, first: 2, count: 4 }).reader, { keyGroups: new Set([2, 5, 7]) })).toEqual(['0/2/a=A', '0/5/d=D']);
  });

  it('have two bytes above a max parallelism of 128', () => {
    const files = database(
      ['value'],
      [{ family: 1, versions: [entry([0, 255], 'a', 'A'), entry([1, 0], 'b', 'B'), entry([127, 255], 'c', 'C')] }],
    );
    const { reader } = open({ files, maxParallelism: 32768, count: 32768 });
    expect(rows(reader)).toEqual(['0/255/a=A', '0/256/b=B', '0/32767/c=C']);
    expect(rows(reader, { keyGroups: new Set([32767]) })).toEqual(['0/32767/c=C']);
    expect(rows(reader, { keys: [text('b')], keyGroups: new Set([256]) })).toEqual(['0/256/b=B']);
  });

  it('that were cut out by a range deletion stay out', () => {
    const end = (keyGroup: number) => Uint8Array.of(keyGroup);
    const files = database(
      ['value'],
      [
        { family: 1, level: 6, versions: [entry([1], 'a', 'old'), entry([2], 'b', 'old'), entry([3], 'c', 'old')] },
        { family: 1, versions: [entry([2], 'b', 'new', 20)], ranges: [{ start: end(2), end: end(128), sequence: 10n }] },
      ],
    );
    expect(rows(open({ files }).reader)).toEqual(['0/1/a=old', '0/2/b=new']);
  });
});

describe('filters', () => {
  const files = database(
    ['first', 'second', 'empty'],
    [
      { ...SIMPLE, level: 1 },
      { family: 2, versions: [entry([3], 'b', '2B'), entry([5], 'x', '2X')] },
      { family: 1, versions: [entry([3], 'b', 'B2', 9), entry([5], 'd', '', 9)] },
    ],
  );
  const instance: Instance = { files, meta: meta('first', 'second', 'empty') };

  it('states', () => {
    expect(rows(open(instance).reader)).toEqual(['0/2/a=A', '0/3/b=B2', '0/3/c=C', '0/7/e=E', '1/3/b=2B', '1/5/x=2X']);
    expect(rows(open(instance).reader, { states: new Set([1]) })).toEqual(['1/3/b=2B', '1/5/x=2X']);
    expect(rows(open(instance).reader, { states: new Set([2]) })).toEqual([]);
  });

  it('keys', () => {
    const { reader } = open(instance);
    expect(rows(reader, { keys: [text('b')] })).toEqual(['0/3/b=B2', '1/3/b=2B']);
    expect(rows(reader, { keys: [text('b')], keyGroups: new Set([3]) })).toEqual(['0/3/b=B2', '1/3/b=2B']);
    expect(rows(reader, { keys: [text('b')], keyGroups: new Set([2]) })).toEqual([]);
    expect(rows(reader, { keys: [text('e'), text('x'), text('e'), text('nowhere')], keyGroups: new Set([5, 7]) })).toEqual([
      '0/7/e=E',
      '1/5/x=2X',
    ]);
    expect(rows(reader, { keys: [text('d')], keyGroups: new Set([5]) })).toEqual([]);
    expect(rows(reader, { keys: [] })).toEqual([]);
    // many keys are filtered while everything is read
    const many = Array.from({ length: 400 }, (_, i) => text(`key-${i}`));
    expect(rows(reader, { keys: [...many, text('c')] })).toEqual(['0/3/c=C']);
  });

  it('nothing but counts', () => {
    expect(rows(open(instance).reader, { split: false }).length).toBe(6);
  });

  it('a key is looked up in few reads', () => {
    const versions = Array.from({ length: 40_000 }, (_, i) => entry([i % 100], `key-${i}`, `value ${i}`, i + 1));
    const big = { files: database(['value'], [{ family: 1, level: 2, versions }]) };
    const { reader, stats } = open(big);
    expect(rows(reader, { keys: [text('key-12345')], keyGroups: new Set([45]) })).toEqual(['0/45/key-12345=value 12345']);
    expect(stats.reads).toBeLessThan(12);
    expect(stats.bytesRead).toBeLessThan(80_000);
    const size = big.files.get('000012.sst')?.length ?? 0;
    expect(size).toBeGreaterThan(1_000_000);
    // without its key group all that it may be in are asked
    const twenty = open(big);
    const keyGroups = new Set(Array.from({ length: 20 }, (_, i) => 30 + i));
    expect(rows(twenty.reader, { keys: [text('key-12345')], keyGroups })).toEqual(['0/45/key-12345=value 12345']);
    expect(twenty.stats.bytesRead).toBeLessThan(size / 4);
    const scan = open(big);
    expect(rows(scan.reader).length).toBe(40_000);
    expect(scan.stats.reads).toBeLessThan(16);
  });
});

describe('what is wrong with an instance', () => {
  const failure = (change: (files: Map<string, Uint8Array>) => void, other: Partial<Instance> = {}): StateQueryError => {
    const files = database(['value'], [SIMPLE, { family: 1, versions: [entry([4], 'z', 'Z', 5)] }]);
    change(files);
    try {
      rows(open({ files, ...other }).reader);
    } catch (error) {
      return error as StateQueryError;
    }
    throw new Error('no error');
  };
  const WHERE = 'operator abc (my-uid), subtask 3';

  it('a table is missing', () => {
    const error = failure(files => files.set('000012.sst', new Uint8Array(0)));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.code).toBe('STATE_FILE_MISSING');
    expect(error.describe()).toBe(`000012.sst: no such file (/shared/000012.sst, ${WHERE}, state value)`);
  });

  it('a table is not listed', () => {
    const error = failure(files => files.delete('000012.sst'));
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.describe()).toBe(`the MANIFEST has 000012.sst in "value", the handle does not list it (${WHERE})`);
  });

  it('a table is short', () => {
    const error = failure(files => files.set('000012.sst', (files.get('000012.sst') ?? new Uint8Array(0)).slice(0, 300)));
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.describe()).toMatch(
      /^000012\.sst has 300 bytes, the MANIFEST says \d+ \(\/shared\/000012\.sst, byte 300, operator abc \(my-uid\), subtask 3, state value\)$/,
    );
    expect(error.hint).toContain('truncated');
  });

  it('a table is damaged', () => {
    const error = failure(files => {
      const bytes = files.get('000012.sst') ?? new Uint8Array(0);
      bytes[10] ^= 1;
    });
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.describe()).toBe(`block does not match its crc32c checksum (/shared/000012.sst, byte 0, ${WHERE}, state value)`);
  });

  it('tables are swapped', () => {
    const same: TableOf = { family: 1, versions: [entry([4], 'x', 'X', 5)] };
    const files = database(['value', 'other'], [same, { ...same, versions: [entry([9], 'y', 'Y', 6)] }, { ...same, family: 2 }]);
    const [a, b, c] = ['000012.sst', '000013.sst', '000014.sst'].map(name => files.get(name) ?? new Uint8Array(0));
    expect(a.length).toBe(b.length);
    expect(a.length).toBe(c.length);
    const swapped = (one: string, bytes: Uint8Array) => () =>
      rows(open({ files: new Map([...files, [one, bytes]]), meta: meta('value', 'other') }).reader);
    expect(swapped('000012.sst', b)).toThrow('table has a key behind the last one that the manifest says of 000012.sst');
    expect(swapped('000012.sst', c)).toThrow('000012.sst is a table of column family "other"');
  });

  it('CURRENT, MANIFEST and meta file', () => {
    expect(failure(files => files.set('CURRENT', bytesOf('MANIFEST-000009\n'))).message).toBe(
      'CURRENT names MANIFEST-000009, which the handle does not list',
    );
    expect(failure(files => files.set('CURRENT', bytesOf('gibberish'))).describe()).toBe(
      `CURRENT does not name a MANIFEST file (/shared/CURRENT, byte 0, ${WHERE}, CURRENT)`,
    );
    expect(failure(files => files.set('MANIFEST-000004', new Uint8Array(0))).describe()).toBe(
      `MANIFEST-000004: no such file (/shared/MANIFEST-000004, ${WHERE})`,
    );
    const cut = failure(files => files.set('MANIFEST-000004', (files.get('MANIFEST-000004') ?? new Uint8Array(0)).slice(0, -3)));
    expect(cut.describe()).toMatch(/^log record of \d+ bytes is cut off \(\/shared\/MANIFEST-000004, byte \d+, .*, MANIFEST-000004\)$/);
    expect(failure(() => {}, { meta: concat(meta('value'), Uint8Array.of(0)) }).message).toBe('1 bytes left over after the header');
    expect(failure(() => {}, { meta: meta('value', 'unknown') }).describe()).toBe(
      `the MANIFEST has no column family for the state (${WHERE}, state unknown)`,
    );
  });

  it('a MANIFEST that is not the whole one shows in the tables that it lacks', () => {
    const files = database(['value'], [SIMPLE]);
    files.set('000099.sst', encodeTable([entry([4], 'z', 'Z', 5)]));
    const { reader, warnings } = open({ files });
    expect(rows(reader).length).toBe(5);
    expect(warnings).toEqual([`${WHERE}: 000099.sst not among the live files of the MANIFEST, not read`]);
  });

  it('a key that is no composite key', () => {
    const broken = { ...entry([4], 'z', 'Z'), key: Uint8Array.of(4, 9, 97) };
    const error = failure(files => {
      for (const [name, bytes] of database(['value'], [{ family: 1, versions: [broken] }])) files.set(name, bytes);
    });
    expect(error).toBeInstanceOf(CorruptError);
    expect(error.file).toBe('/shared/000012.sst');
    expect(error.where).toBe(`${WHERE}, state value`);
  });

  it('write-ahead logs that hold something, and blob files', () => {
    const files = database(['value'], [SIMPLE]);
    files.set('000003.log', bytesOf('before the MANIFEST'));
    files.set('000007.log', bytesOf('something'));
    files.set('000008.blob', bytesOf('blob'));
    const { reader, warnings } = open({ files });
    expect(rows(reader).length).toBe(5);
    expect(warnings).toEqual([
      `${WHERE}: 000008.blob holds blob values, which are not read`,
      `${WHERE}: 000007.log is a write-ahead log of 9 bytes; what only it holds is not read`,
    ]);
    const blob = database(['value'], [{ family: 1, versions: [{ ...entry([4], 'z', 'Z'), type: 0x11 }] }]);
    expect(() => rows(open({ files: blob }).reader)).toThrow(
      new UnsupportedError('values in blob files (enable_blob_files) are not read', {
        file: '/shared/000012.sst',
        offset: 0,
        where: `${WHERE}, state value`,
      }),
    );
  });

  it('column families that are no state', () => {
    const files = database(['value', 'gone'], [SIMPLE, { family: 2, versions: [entry([4], 'z', 'Z')] }]);
    const { reader, warnings } = open({ files });
    expect(rows(reader).length).toBe(5);
    expect(warnings).toEqual([`${WHERE}: column family "gone" is no registered state, its 1 files are not read`]);
  });

  it('there is no MANIFEST: all tables count', () => {
    const files = database(
      ['value'],
      [
        SIMPLE,
        { family: 1, versions: [entry([3], 'b', 'newer', 5)], ranges: [{ start: Uint8Array.of(5), end: Uint8Array.of(6), sequence: 9n }] },
      ],
    );
    files.delete('CURRENT');
    files.delete('MANIFEST-000004');
    const { reader, warnings } = open({ files, meta: meta('value', 'without-tables') });
    expect(rows(reader)).toEqual(['0/2/a=A', '0/3/b=newer', '0/3/c=C', '0/7/e=E']);
    expect(warnings).toEqual([`${WHERE}: there is no MANIFEST, range deletions of 000013.sst are taken as they stand`]);
  });
});

describe('backend', () => {
  it('is ForSt where its working directory shows', () => {
    const options = (directory: string) =>
      bytesOf(`[Version]\n  rocksdb_version=8.10.0\n[DBOptions]\n  wal_dir=\n  db_log_dir=${directory}\n`);
    const files = database(['value'], [SIMPLE]);
    expect(open({ files }).reader.backend).toBe('rocksdb');
    files.set('OPTIONS-000017', options('/tmp/job_1_op_2__1_2__uuid_3/db'));
    expect(open({ files }).reader.backend).toBe('rocksdb');
    files.set('OPTIONS-000017', options('/tmp/job/op_KeyedProcessOperator_abc__1_1__attempt_0/db'));
    expect(open({ files }).reader.backend).toBe('forst');
    files.set('OPTIONS-000017', new Uint8Array(0));
    expect(open({ files }).reader.backend).toBe('rocksdb');
  });
});
