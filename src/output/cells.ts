/**
 * How each kind of SQL type is written: one total table, so a new kind without an output form does not compile.
 *
 *   json   contract §3, the same text as io/json.ts gives for the value (a test compares them)
 *   text   the JSON form without outer quotes; nested values as compact JSON: tables, csv, tsv, line, list
 *   sql    a literal that DuckDB reads back to the same value when it is inserted into a column of the type
 *
 * Writers take a valid row; NULL is the caller's. Frequent kinds are written from the column's bytes, the rest by way of io/json.ts.
 */
import { type BytesColumn, type Column, columnValue, type FixedColumn, type ListColumn, type StructColumn } from '../io/column.js';
import { textOf } from '../io/json.js';
import type { Interval, SqlKind, SqlType } from '../types.js';
import type { ByteWriter } from './bytes.js';
import { writeJsonString, writeJsonText } from './escape.js';

export type CellWriter = (column: Column, row: number, out: ByteWriter) => void;

export interface CellContext {
  /** `string`: BIGINT, HUGEINT and DECIMAL are quoted in JSON */
  readonly numbers: 'exact' | 'string';
  /** what the user is told on stderr afterwards */
  readonly notes: OutputNotes;
}
export interface OutputNotes {
  /** an integer beyond ±2^53 went out bare */
  bigInteger: boolean;
}

type TypeOf<K extends SqlKind> = SqlType & { readonly kind: K };

interface KindOutput<K extends SqlKind> {
  /** where the cell stands in a table */
  readonly align: 'left' | 'right';
  /** MAPs with such keys are JSON objects */
  readonly objectKey: boolean;
  json(type: TypeOf<K>, context: CellContext): CellWriter;
  text(type: TypeOf<K>, context: CellContext): CellWriter;
  sql(type: TypeOf<K>): CellWriter;
}

const [QUOTE, COMMA] = [0x22, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The JSON form of a cell of `type`. */
export function jsonCell(type: SqlType, context: CellContext): CellWriter {
  return kind(type).json(type, context);
}
/** The text form of a cell of `type`. */
export function textCell(type: SqlType, context: CellContext): CellWriter {
  return kind(type).text(type, context);
}
/** The SQL literal of a cell of `type`. */
export function sqlCell(type: SqlType): CellWriter {
  return kind(type).sql(type);
}
export function alignOf(type: SqlType): 'left' | 'right' {
  return kind(type).align;
}

function kind(type: SqlType): KindOutput<SqlKind> {
  return KINDS[type.kind] as KindOutput<SqlKind>;
}

const quoted =
  (text: CellWriter): CellWriter =>
  (column, row, out) => {
    out.byte(QUOTE);
    text(column, row, out);
    out.byte(QUOTE);
  };
const sqlQuoted =
  (text: CellWriter): CellWriter =>
  (column, row, out) => {
    out.byte(0x27);
    text(column, row, out);
    out.byte(0x27);
  };

/** Through the value: exact for every kind, slower than bytes. */
const viaValue =
  (type: SqlType): CellWriter =>
  (column, row, out) =>
    out.ascii(textOf(type, columnValue(column, row)));

const BOOLEAN_CELL: CellWriter = (column, row, out) => out.ascii((column as FixedColumn).view.getUint8(row) === 1 ? 'true' : 'false');
const boolean = (): CellWriter => BOOLEAN_CELL;

function small(width: 1 | 2 | 4): KindOutput<SqlKind> {
  const cell: CellWriter = (column, row, out) => {
    const { view } = column as FixedColumn;
    out.integer(width === 4 ? view.getInt32(row * 4, true) : width === 2 ? view.getInt16(row * 2, true) : view.getInt8(row));
  };
  return { align: 'right', objectKey: true, json: () => cell, text: () => cell, sql: () => cell };
}

const bigint = (context?: CellContext): CellWriter => {
  const notes = context?.notes;
  return (column, row, out) => {
    const { view } = column as FixedColumn;
    if (out.integer64(view.getInt32(row * 8, true), view.getInt32(row * 8 + 4, true)) && notes !== undefined) notes.bigInteger = true;
  };
};

const hugeint = (context?: CellContext): CellWriter => {
  const notes = context?.notes;
  return (column, row, out) => {
    const { view } = column as FixedColumn;
    const at = row * 16;
    const low = view.getInt32(at, true);
    const second = view.getInt32(at + 4, true);
    if (view.getInt32(at + 8, true) === second >> 31 && view.getInt32(at + 12, true) === second >> 31) {
      if (out.integer64(low, second) && notes !== undefined) notes.bigInteger = true;
      return;
    }
    out.ascii(((view.getBigInt64(at + 8, true) << 64n) | view.getBigUint64(at, true)).toString());
    if (notes !== undefined) notes.bigInteger = true;
  };
};

function floating(width: 4 | 8): KindOutput<SqlKind> {
  const text = (type: SqlType): CellWriter => viaValue(type);
  return {
    align: 'right',
    objectKey: true,
    text,
    json: type => {
      const bare = viaValue(type);
      const string = quoted(bare);
      return (column, row, out) => {
        const { view } = column as FixedColumn;
        const n = width === 4 ? view.getFloat32(row * 4, true) : view.getFloat64(row * 8, true);
        (Number.isFinite(n) ? bare : string)(column, row, out);
      };
    },
    sql: type => sqlQuoted(viaValue(type)),
  };
}

/** Kinds whose JSON form is a string that never needs an escape. `sqlText`: as DuckDB spells it, where that differs. */
function plainString(text: (type: SqlType) => CellWriter, sqlText: (type: SqlType) => CellWriter = text): KindOutput<SqlKind> {
  return { align: 'left', objectKey: false, text, json: type => quoted(text(type)), sql: type => sqlQuoted(sqlText(type)) };
}

/** DuckDB's ±infinity of a temporal kind, or undefined. */
function infinityOf(column: FixedColumn, row: number): string | undefined {
  const { view } = column;
  const at = row * column.width;
  const low = view.getInt32(at, true);
  const high = column.width === 8 ? view.getInt32(at + 4, true) : low;
  if (high === 0x7fffffff && (column.width === 4 || low === -1)) return 'infinity';
  return high === -0x80000000 + (column.width === 4 ? 1 : 0) && (column.width === 4 || low === 1) ? '-infinity' : undefined;
}

const dated = (type: SqlType): CellWriter => {
  const finite = viaValue(type);
  return (column, row, out) => {
    const infinity = infinityOf(column as FixedColumn, row);
    if (infinity === undefined) finite(column, row, out);
    else out.ascii(infinity);
  };
};

/** Dates as DuckDB reads them: `0044-03-15 (BC)` for year -43, no sign before five digits. */
const datedSql =
  (type: SqlType): CellWriter =>
  (column, row, out) => {
    const infinity = infinityOf(column as FixedColumn, row);
    if (infinity !== undefined) {
      out.ascii(infinity);
      return;
    }
    const [, year, day, time] = /^([+-]?\d+)(-\d\d-\d\d)(?:T(.*?))?Z?$/.exec(textOf(type, columnValue(column, row))) as unknown as string[];
    const n = Number(year);
    out.ascii(`${String(n > 0 ? n : 1 - n).padStart(4, '0')}${day}${n > 0 ? '' : ' (BC)'}`);
    if (time !== undefined) out.ascii(` ${time}${type.kind === 'TIMESTAMPTZ' ? '+00' : ''}`);
  };

const heapText: CellWriter = (column, row, out) => {
  const { heap, offsets } = column as BytesColumn;
  out.copy(heap, offsets[row], offsets[row + 1]);
};
const heapJsonString: CellWriter = (column, row, out) => {
  const { heap, offsets } = column as BytesColumn;
  writeJsonString(heap, offsets[row], offsets[row + 1], out);
};

/** 'it''s'; what no terminal and no editor shows safely is spliced in: 'a' || chr(27) || 'b' */
const sqlString: CellWriter = (column, row, out) => {
  const text = (column as BytesColumn).bytesAt(row).toString('utf8');
  const parts = text.split(/([\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069])/);
  const literals = parts.map((part, i) => (i % 2 === 1 ? `chr(${part.charCodeAt(0)})` : `'${part.replaceAll("'", "''")}'`));
  out.text(literals.filter(literal => literals.length === 1 || literal !== "''").join(' || '));
};

const HEX_LOWER = Buffer.from('0123456789abcdef', 'latin1');
const hexText: CellWriter = (column, row, out) => {
  const { heap, offsets } = column as BytesColumn;
  out.reserve((offsets[row + 1] - offsets[row]) * 2);
  const { bytes } = out;
  let at = out.length;
  for (let i = offsets[row]; i < offsets[row + 1]; i++) {
    bytes[at++] = HEX_LOWER[heap[i] >> 4];
    bytes[at++] = HEX_LOWER[heap[i] & 15];
  }
  out.length = at;
};
const sqlBlob: CellWriter = (column, row, out) => {
  const hex = (column as BytesColumn).bytesAt(row).toString('hex');
  out.ascii(`'${hex.replace(/../g, '\\x$&')}'`);
};

const sqlInterval: CellWriter = (column, row, out) => {
  const { months, days, micros } = columnValue(column, row) as Interval;
  out.ascii(`to_months(${months}) + to_days(${days}) + to_microseconds(${micros})`);
};

/** `cell` of a child, with the word for NULL. */
const nullable =
  (cell: CellWriter, word: string): CellWriter =>
  (column, row, out) => {
    if (column.validity[row] === 0) out.ascii(word);
    else cell(column, row, out);
  };

/** {open field, …}: `names` are the finished bytes before each value, `{"a":` and `,"b":`. */
function structCell(names: readonly Buffer[], cells: readonly CellWriter[]): CellWriter {
  return (column, row, out) => {
    const { children } = column as StructColumn;
    for (let i = 0; i < cells.length; i++) {
      out.copy(names[i]);
      cells[i](children[i], row, out);
    }
    if (cells.length === 0) out.byte(BRACE);
    out.byte(BRACE_END);
  };
}

function listCell(element: CellWriter): CellWriter {
  return (column, row, out) => {
    const { offsets, children } = column as ListColumn;
    out.byte(BRACKET);
    for (let i = offsets[row]; i < offsets[row + 1]; i++) {
      if (i > offsets[row]) out.byte(COMMA);
      element(children[0], i, out);
    }
    out.byte(BRACKET_END);
  };
}

function entriesCell(
  open: string,
  before: string,
  between: string,
  after: string,
  close: string,
  key: CellWriter,
  value: CellWriter,
): CellWriter {
  return (column, row, out) => {
    const { offsets, children } = column as ListColumn;
    out.ascii(open);
    for (let i = offsets[row]; i < offsets[row + 1]; i++) {
      if (i > offsets[row]) out.byte(COMMA);
      out.ascii(before);
      key(children[0], i, out);
      out.ascii(between);
      value(children[1], i, out);
      out.ascii(after);
    }
    out.ascii(close);
  };
}

const structJson = (type: TypeOf<'STRUCT'>, context: CellContext): CellWriter => {
  const cells = type.fields.map(f => nullable(jsonCell(f.type, context), 'null'));
  const whole = structCell(
    type.fields.map((f, i) => Buffer.from(`${i === 0 ? '{' : ','}${JSON.stringify(f.name)}:`)),
    cells,
  );
  return type.choice ? choiceCell(type, cells, whole) : whole;
};
/** Of a choice the field that is there; both where that cannot be told. */
function choiceCell(type: TypeOf<'STRUCT'>, cells: readonly CellWriter[], whole: CellWriter): CellWriter {
  const names = type.fields.map(f => Buffer.from(`{${JSON.stringify(f.name)}:`));
  return (column, row, out) => {
    const { children } = column as StructColumn;
    const there = children.findIndex(c => c.validity[row] !== 0);
    const told = there >= 0 && children.every((c, i) => i === there || c.validity[row] === 0);
    if (!told) {
      whole(column, row, out);
      return;
    }
    out.copy(names[there]);
    cells[there](children[there], row, out);
    out.byte(BRACE_END);
  };
}
const listJson = (type: TypeOf<'LIST'>, context: CellContext): CellWriter => listCell(nullable(jsonCell(type.element, context), 'null'));
const mapJson = (type: TypeOf<'MAP'>, context: CellContext): CellWriter => {
  const value = nullable(jsonCell(type.value, context), 'null');
  if (!kind(type.key).objectKey) {
    const key = nullable(jsonCell(type.key, context), 'null');
    return entriesCell('[', '{"key":', ',"value":', '}', ']', key, value);
  }
  // a number as a key is a string anyway: it is not one that went out bare
  const key = type.key.kind === 'VARCHAR' ? heapJsonString : quoted(textCell(type.key, { ...context, notes: { bigInteger: false } }));
  return entriesCell('{', '', ':', '', '}', key, value);
};

const jsonText = (context: CellContext): CellWriter => {
  return (column, row, out) => {
    const { heap, offsets } = column as BytesColumn;
    if (writeJsonText(heap, offsets[row], offsets[row + 1], out)) context.notes.bigInteger = true;
  };
};

/** Every kind of SQL type, in every form. */
const KINDS: { readonly [K in SqlKind]: KindOutput<K> } = {
  BOOLEAN: { align: 'left', objectKey: true, json: boolean, text: boolean, sql: boolean },
  TINYINT: small(1),
  SMALLINT: small(2),
  INTEGER: small(4),
  BIGINT: {
    align: 'right',
    objectKey: true,
    json: (_, context) => (context.numbers === 'string' ? quoted(bigint()) : bigint(context)),
    text: () => bigint(),
    sql: () => bigint(),
  },
  HUGEINT: {
    align: 'right',
    objectKey: true,
    json: (_, context) => (context.numbers === 'string' ? quoted(hugeint()) : hugeint(context)),
    text: () => hugeint(),
    sql: () => sqlQuoted(hugeint()),
  },
  FLOAT: floating(4),
  DOUBLE: floating(8),
  DECIMAL: {
    align: 'right',
    objectKey: true,
    json: (type, context) => (context.numbers === 'string' ? quoted(viaValue(type)) : viaValue(type)),
    text: viaValue,
    sql: type => sqlQuoted(viaValue(type)),
  },
  VARCHAR: { align: 'left', objectKey: true, json: () => heapJsonString, text: () => heapText, sql: () => sqlString },
  BLOB: { align: 'left', objectKey: false, json: () => quoted(hexText), text: () => hexText, sql: () => sqlBlob },
  UUID: plainString(viaValue),
  DATE: plainString(dated, datedSql),
  TIME: plainString(viaValue),
  TIME_NS: plainString(viaValue),
  TIMESTAMP: plainString(dated, datedSql),
  TIMESTAMP_NS: plainString(dated, datedSql),
  TIMESTAMPTZ: plainString(dated, datedSql),
  INTERVAL: { ...plainString(viaValue), sql: () => sqlInterval },
  STRUCT: {
    align: 'left',
    objectKey: false,
    json: structJson,
    text: structJson,
    sql: type =>
      structCell(
        type.fields.map((f, i) => Buffer.from(`${i === 0 ? '{' : ', '}'${f.name.replaceAll("'", "''")}': `)),
        type.fields.map(f => nullable(sqlCell(f.type), 'NULL')),
      ),
  },
  LIST: { align: 'left', objectKey: false, json: listJson, text: listJson, sql: type => listCell(nullable(sqlCell(type.element), 'NULL')) },
  MAP: {
    align: 'left',
    objectKey: false,
    json: mapJson,
    text: mapJson,
    sql: type => entriesCell('MAP {', '', ': ', '', '}', sqlCell(type.key), nullable(sqlCell(type.value), 'NULL')),
  },
  JSON: {
    align: 'left',
    objectKey: false,
    json: (_, context) => jsonText(context),
    text: (_, context) => {
      const nested = jsonText(context);
      return (column, row, out) => {
        const bytes = (column as BytesColumn).bytesAt(row);
        if (bytes[0] === QUOTE) out.text(JSON.parse(bytes.toString('utf8')) as string);
        else nested(column, row, out);
      };
    },
    sql: () => sqlString,
  },
};
