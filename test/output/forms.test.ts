/** Every form of -o: exact text, escapes, NULL, widths, several results. */
import { describe, expect, it } from 'vitest';
import { OUTPUT_FORMATS, type OutputFormat, type ResultColumn, resultWriter, uniqueNames } from '../../src/output/format.js';
import * as t from '../../src/types.js';
import { OPTIONS, resultOf, written } from './support.js';
import { everyKind } from './values.js';

const COLUMNS: readonly ResultColumn[] = [
  { name: 'key', type: t.VARCHAR },
  { name: 'value', type: t.BIGINT },
  { name: 'tags', type: t.list(t.VARCHAR) },
];
const ROWS: readonly (readonly t.Value[])[] = [
  ['key_662', 11290n, ['a', 'b']],
  ['', null, []],
  ['a,"b"|\n\tc\\', -9007199254740993n, null],
];
const small = () => resultOf(COLUMNS, ROWS, 2);

describe('a result in each form', () => {
  const expected: Record<OutputFormat, string> = {
    table: [
      '+-----------------+-------------------+-----------+',
      '| key             |             value | tags      |',
      '+-----------------+-------------------+-----------+',
      '| key_662         |             11290 | ["a","b"] |',
      '|                 |              NULL | []        |',
      '| a,"b"|\\n\\tc\\    | -9007199254740993 | NULL      |',
      '+-----------------+-------------------+-----------+',
      '',
    ]
      .join('\n')
      .replaceAll('+-----------------+', '+--------------+')
      .replaceAll('|                 |', '|              |')
      .replace('| key             |', '| key          |')
      .replace('| key_662         |', '| key_662      |')
      .replace('\\    |', '\\ |'),
    box: [
      '┌──────────────┬───────────────────┬───────────┐',
      '│ key          │             value │ tags      │',
      '├──────────────┼───────────────────┼───────────┤',
      '│ key_662      │             11290 │ ["a","b"] │',
      '│              │              NULL │ []        │',
      '│ a,"b"|\\n\\tc\\ │ -9007199254740993 │ NULL      │',
      '└──────────────┴───────────────────┴───────────┘',
      '',
    ].join('\n'),
    markdown: [
      '| key                |             value | tags      |',
      '| ------------------ | ----------------: | --------- |',
      '| key_662            |             11290 | ["a","b"] |',
      '|                    |              NULL | []        |',
      '| a,"b"\\|\\\\n\\\\tc\\\\    | -9007199254740993 | NULL      |',
      '',
    ]
      .join('\n')
      .replaceAll('| ------------------ |', '| ---------------- |')
      .replace('| key                |', '| key              |')
      .replace('| key_662            |', '| key_662          |')
      .replace('|                    |', '|                  |')
      .replace('\\\\    |', '\\\\ |'),
    json: '[{"key":"key_662","value":11290,"tags":["a","b"]},\n{"key":"","value":null,"tags":[]},\n{"key":"a,\\"b\\"|\\n\\tc\\\\","value":-9007199254740993,"tags":null}]\n',
    ndjson:
      '{"key":"key_662","value":11290,"tags":["a","b"]}\n{"key":"","value":null,"tags":[]}\n{"key":"a,\\"b\\"|\\n\\tc\\\\","value":-9007199254740993,"tags":null}\n',
    csv: 'key,value,tags\nkey_662,11290,"[""a"",""b""]"\n"",,[]\n"a,""b""|\n\tc\\",-9007199254740993,\n',
    tsv: 'key\tvalue\ttags\nkey_662\t11290\t["a","b"]\n\t\t[]\na,"b"|\\n\\tc\\\\\t-9007199254740993\t\n',
    line: '  key = key_662\nvalue = 11290\n tags = ["a","b"]\n\n  key = \nvalue = NULL\n tags = []\n\n  key = a,"b"|\\n\\tc\\\nvalue = -9007199254740993\n tags = NULL\n',
    list: 'key|value|tags\nkey_662|11290|["a","b"]\n|NULL|[]\na,"b"|\\n\\tc\\|-9007199254740993|NULL\n',
    sql: 'CREATE TABLE "result" ("key" VARCHAR, "value" BIGINT, "tags" VARCHAR[]);\nINSERT INTO "result" VALUES\n(\'key_662\', 11290, [\'a\',\'b\']),\n(\'\', NULL, []),\n(\'a,"b"|\' || chr(10) || chr(9) || \'c\\\', -9007199254740993, NULL);\n',
  };
  for (const format of OUTPUT_FORMATS)
    it(format, async () => {
      expect(await written({ format }, small())).toBe(expected[format]);
    });
});

describe('no rows', () => {
  const expected: Record<OutputFormat, string> = {
    table: '+-----+-------+\n| key | value |\n+-----+-------+\n+-----+-------+\n',
    box: '┌─────┬───────┐\n│ key │ value │\n├─────┼───────┤\n└─────┴───────┘\n',
    markdown: '| key | value |\n| --- | ----: |\n',
    json: '[]\n',
    ndjson: '',
    csv: 'key,value\n',
    tsv: 'key\tvalue\n',
    line: '',
    list: 'key|value\n',
    sql: 'CREATE TABLE "result" ("key" VARCHAR, "value" BIGINT);\n',
  };
  for (const format of OUTPUT_FORMATS)
    it(format, async () => {
      expect(await written({ format }, resultOf(COLUMNS.slice(0, 2), []))).toBe(expected[format]);
    });
});

describe('--null and --no-header', () => {
  it('changes the word for NULL, and csv quotes a text that reads like it', async () => {
    const result = () =>
      resultOf(
        [
          { name: 'a', type: t.VARCHAR },
          { name: 'b', type: t.VARCHAR },
        ],
        [['\\N', null]],
      );
    expect(await written({ format: 'csv', nullText: '\\N' }, result())).toBe('a,b\n"\\N",\\N\n');
    expect(await written({ format: 'tsv', nullText: '\\N' }, result())).toBe('a\tb\n\\\\N\t\\N\n');
    expect(await written({ format: 'table', nullText: '-', header: false }, result())).toBe('+----+---+\n| \\N | - |\n+----+---+\n');
    expect(await written({ format: 'csv', header: false }, result())).toBe('\\N,\n');
    expect(await written({ format: 'list', header: false }, result())).toBe('\\N|NULL\n');
  });
});

describe('what a terminal would act on', () => {
  const nasty = 'a\u001b]0;title\u0007\u202eb\u0085\u2066';
  const result = () => resultOf([{ name: 'x\u001by', type: t.VARCHAR }], [[nasty]]);
  const escaped = 'a\\u001b]0;title\\u0007\\u202eb\\u0085\\u2066';
  for (const format of OUTPUT_FORMATS.filter(f => f !== 'sql'))
    it(`is escaped on a terminal by ${format}`, async () => {
      const text = await written({ format, terminal: true }, result());
      expect(text).toContain(format === 'markdown' ? escaped.replaceAll('\\', '\\\\') : escaped);
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/);
    });
  for (const format of ['table', 'box', 'markdown', 'line', 'list'] as const)
    it(`is escaped in a pipe by ${format}`, async () => {
      expect(await written({ format }, result())).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u2066]/);
    });
  it('goes into a pipe as it is by csv, and by json as JSON has it', async () => {
    expect(await written({ format: 'csv' }, result())).toBe(`x\u001by\n${nasty}\n`);
    expect(JSON.parse(await written({ format: 'json' }, result()))).toEqual([{ 'x\u001by': nasty }]);
    expect(JSON.parse(await written({ format: 'json', terminal: true }, result()))).toEqual([{ 'x\u001by': nasty }]);
  });
});

describe('widths', () => {
  it('count CJK and emoji as two, combining marks as none', async () => {
    const rows = [['日本'], ['👩‍👩‍👧'], ['e\u0301'], ['abcd']];
    expect(await written({ format: 'table', header: false }, resultOf([{ name: 'c', type: t.VARCHAR }], rows))).toBe(
      '+------+\n| 日本 |\n| 👩‍👩‍👧   |\n| e\u0301    |\n| abcd |\n+------+\n',
    );
  });
  it('come from the first 1,000 rows; a wider cell after them is not cut', async () => {
    const rows = Array.from({ length: 1002 }, (_, i) => [i === 1000 ? 'a longer text' : `r${i}`]);
    const lines = (await written({ format: 'table' }, resultOf([{ name: 'c', type: t.VARCHAR }], rows, 300))).split('\n');
    expect(lines[0]).toBe('+------+');
    expect(lines[3]).toBe('| r0   |');
    expect(lines[1002]).toBe('| r999 |');
    expect(lines[1003]).toBe('| a longer text |');
    expect(lines[1004]).toBe('| r1001 |');
    expect(lines[1005]).toBe('+------+');
  });
});

describe('several results', () => {
  const two = (format: OutputFormat) =>
    written({ format }, resultOf([{ name: 'a', type: t.INTEGER }], [[1]]), resultOf([{ name: 'b', type: t.INTEGER }], [[2]]));
  it('json: an array each, a newline between', async () => {
    expect(await two('json')).toBe('[{"a":1}]\n[{"b":2}]\n');
  });
  it('table: an empty line between', async () => {
    expect(await two('table')).toBe('+---+\n| a |\n+---+\n| 1 |\n+---+\n\n+---+\n| b |\n+---+\n| 2 |\n+---+\n');
  });
  it('sql: a table each', async () => {
    expect(await two('sql')).toBe(
      'CREATE TABLE "result" ("a" INTEGER);\nINSERT INTO "result" VALUES\n(1);\nCREATE TABLE "result_1" ("b" INTEGER);\nINSERT INTO "result_1" VALUES\n(2);\n',
    );
  });
});

describe('numbers', () => {
  const columns = [
    { name: 'b', type: t.BIGINT },
    { name: 'h', type: t.HUGEINT },
    { name: 'd', type: t.decimal(20, 2) },
    { name: 'i', type: t.INTEGER },
  ];
  const row = [9007199254740993n, 2n ** 100n, new t.Decimal(110n, 2), 7];
  it('are exact and bare, or quoted by type', async () => {
    expect(await written({ format: 'ndjson' }, resultOf(columns, [row]))).toBe(
      '{"b":9007199254740993,"h":1267650600228229401496703205376,"d":1.10,"i":7}\n',
    );
    expect(await written({ format: 'ndjson', numbers: 'string' }, resultOf(columns, [row]))).toBe(
      '{"b":"9007199254740993","h":"1267650600228229401496703205376","d":"1.10","i":7}\n',
    );
  });
  const noted = async (numbers: 'exact' | 'string', type: t.SqlType, value: t.Value) => {
    const writer = resultWriter({ ...OPTIONS, format: 'ndjson', numbers }, { write() {} });
    await writer.write(resultOf([{ name: 'a', type }], [[value]]));
    return writer.notes.bigInteger;
  };
  it('are noted once beyond 2^53, and only when bare', async () => {
    expect(await noted('exact', t.BIGINT, 9007199254740992n)).toBe(false);
    expect(await noted('exact', t.BIGINT, 9007199254740993n)).toBe(true);
    expect(await noted('exact', t.BIGINT, -9007199254740993n)).toBe(true);
    expect(await noted('string', t.BIGINT, 9007199254740993n)).toBe(false);
    expect(await noted('exact', t.HUGEINT, 9007199254740993n)).toBe(true);
    expect(await noted('exact', t.HUGEINT, 5n)).toBe(false);
    expect(await noted('exact', t.JSON_TYPE, new t.JsonText('{"a":[9007199254740993]}'))).toBe(true);
    expect(
      await noted(
        'exact',
        t.JSON_TYPE,
        new t.JsonText('{"9007199254740993":"9007199254740993","b":9007199254740992,"c":9007199254740993.5}'),
      ),
    ).toBe(false);
    expect(await noted('exact', t.map(t.BIGINT, t.INTEGER), new t.MapValue([[9007199254740993n, 1]]))).toBe(false);
  });
});

describe('JSON text of the engine', () => {
  const one = (text: string) => written({ format: 'ndjson' }, resultOf([{ name: 'j', type: t.JSON_TYPE }], [[new t.JsonText(text)]]));
  it('comes out on one line, and only as JSON', async () => {
    expect(await one('{"a":\n 1,\t"b": [ true , null ]}')).toBe('{"j":{"a":1,"b":[true,null]}}\n');
    expect(await one('[NaN,inf,-Infinity,-inf,1e5,-2.5,"NaN"]')).toBe('{"j":["NaN","Infinity","-Infinity","-Infinity",1e5,-2.5,"NaN"]}\n');
    expect(await one('"a \\"quoted\\" \\\\ text"')).toBe('{"j":"a \\"quoted\\" \\\\ text"}\n');
  });
  it('is text without quotes where text is wanted', async () => {
    const csv = await written(
      { format: 'csv' },
      resultOf([{ name: 'j', type: t.JSON_TYPE }], [[new t.JsonText('"a\\u0041"')], [new t.JsonText('null')], [new t.JsonText('12')]]),
    );
    expect(csv).toBe('j\naA\nnull\n12\n');
  });
});

describe('times out of range', () => {
  it('are infinity, and so they are for DuckDB', async () => {
    const { createColumn } = await import('../../src/io/column.js');
    const bounds = [
      [t.TIMESTAMPTZ, 0x7fffffffffffffffn],
      [t.TIMESTAMP, -0x7fffffffffffffffn],
    ] as const;
    for (const [type, raw] of bounds) {
      const column = createColumn(type, 1);
      column.push(new t.Timestamp(0n, 0));
      if ('view' in column) column.view.setBigInt64(0, raw, true);
      const result = () => ({ columns: [{ name: 't', type }], batches: [{ length: 1, columns: [column] }] });
      expect(await written({ format: 'ndjson' }, result())).toBe(`{"t":"${raw > 0 ? '' : '-'}infinity"}\n`);
      expect(await written({ format: 'csv' }, result())).toBe(`t\n${raw > 0 ? '' : '-'}infinity\n`);
    }
  });
});

describe('--max-rows', () => {
  it('shows so many of each result and counts the others', async () => {
    const chunks: string[] = [];
    const writer = resultWriter(
      { ...OPTIONS, format: 'csv', maxRows: 2 },
      { write: bytes => void chunks.push(Buffer.from(bytes).toString()) },
    );
    expect(await writer.write(resultOf([{ name: 'a', type: t.INTEGER }], [[1], [2], [3], [4], [5]], 2))).toEqual({ rows: 5, hidden: 3 });
    expect(chunks.join('')).toBe('a\n1\n2\n');
  });
});

describe('names', () => {
  it('are made unique without case, and never onto another column', () => {
    const names = (...given: string[]) => uniqueNames(given.map(name => ({ name, type: t.INTEGER }))).map(c => c.name);
    expect(names('value', 'value')).toEqual(['value', 'value_1']);
    expect(names('value', 'VALUE', 'value_1', 'value')).toEqual(['value', 'VALUE_2', 'value_1', 'value_3']);
    expect(names('a', 'b')).toEqual(['a', 'b']);
  });
});

describe('streaming', () => {
  it('lets the first rows out before the last are read', async () => {
    const seen: string[] = [];
    let pulled = 0;
    const batches = (async function* () {
      for (let i = 0; i < 3; i++) {
        pulled++;
        const [batch] = resultOf([{ name: 'a', type: t.INTEGER }], [[i]]).batches as Iterable<never>;
        yield batch;
      }
    })();
    await resultWriter({ ...OPTIONS, format: 'json' }, { write: bytes => void seen.push(`${pulled}:${Buffer.from(bytes)}`) }).write({
      columns: [{ name: 'a', type: t.INTEGER }],
      batches,
    });
    expect(seen).toEqual(['1:[{"a":0}', '2:,\n{"a":1}', '3:,\n{"a":2}', '3:]\n']);
  });
  it('waits for the reader', async () => {
    let waiting = 0;
    let most = 0;
    const rows = Array.from({ length: 5000 }, () => ['x'.repeat(100)]);
    await resultWriter(
      { ...OPTIONS, format: 'ndjson' },
      {
        write: async () => {
          waiting++;
          most = Math.max(most, waiting);
          await new Promise(resolve => setImmediate(resolve));
          waiting--;
        },
      },
    ).write(resultOf([{ name: 'a', type: t.VARCHAR }], rows, 1000));
    expect(most).toBe(1);
  });
});

describe('every kind of type', () => {
  it('has a test value', () => {
    expect(new Set(everyKind.map(([type]) => type.kind)).size).toBe(23);
  });
  it('is written by every form', async () => {
    const columns = everyKind.map(([type], i) => ({ name: `c${i}`, type }));
    const result = () => resultOf(columns, [everyKind.map(([, value]) => value), everyKind.map(() => null)]);
    expect(await written({ format: 'list', header: false }, result())).toBe(
      'true|-128|-32768|2147483647|9007199254740993|-170141183460469231731687303715884105727|0.1|NaN|1.10|it\'s "ü" 日本|00abff|0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9|{"a":[1,null]}|2026-01-31|12:34:56.789|12:34:56.789000001|2026-01-31T12:34:56.789|2026-01-31T12:34:56.789000001|2026-01-31T12:34:56Z|P1Y2M3DT0.5S|{"f0":"a","end":null}|[1,null,3]|{"k":0.5}\n' +
        `${everyKind.map(() => 'NULL').join('|')}\n`,
    );
    for (const format of OUTPUT_FORMATS) expect((await written({ format }, result())).length).toBeGreaterThan(100);
  });
});
