/**
 * Flink CDC: splits of tables and of the log, for MySQL and for the connectors on the common base (Postgres, MongoDB, Oracle …).
 *
 *   split            i32 1 snapshot · [bool catalog before schema]⁴ᵇ · utf table · utf split id · utf key type · utf start · utf end ·
 *                      high watermark · schemas
 *                    i32 2 log · utf split id · utf "" · start · end · i32 n × finished split · schemas · [i32 finished in all]³ ·
 *                      [bool suspended]⁴ᵐ⁵ᵇ · [bool snapshot completed]⁶ᵇ
 *   bound            hex text of a Java stream: Object[] or null
 *   offset           bool [i32 len · JSON map of text]            v1: bool [utf file · i64 position]
 *   finished split   utf table · utf split id · utf start · utf end · [utf hex of a Java OffsetFactory]ᵇ · high watermark · [bool]⁴ᵇ
 *   schemas          i32 n × ([bool]⁴ᵇ · utf table · i32 len · JSON of Debezium)   v1: utf in place of i32 len
 *
 *   enumerator       i32 split version · i32 1 snapshot, 2 log, 3 both
 *     snapshot       tables done · i32 n × (i32 len · split) remaining · i32 n × (utf split id · i32 len · split) assigned ·
 *                      i32 n × (utf split id · offset) finished · status · tables left · bool case-sensitive · [schemas]⁴ ·
 *                      [i32 n × (utf split id · i64 checkpoint)]⁷ᵇ · [bool [utf table · utf start · i32 chunk]]⁵ᵐ⁸ᵇ · [bool released]⁶ᵐ
 *                      (v1, v2: it ends with the status)
 *     status         i32 from v3ᵐ, v6ᵇ on, else bool finished
 *     table ids      i32 n × ([bool]⁵ᵇ · utf)
 *     both           snapshot · bool log split assigned            log: bool log split assigned
 *
 * ⁿ from version n on, ᵐ MySQL alone, ᵇ the base alone. MySQL 2.2 and older wrote log splits v4 without `suspended`.
 * Which database the base is of stands in the offsets' keys and in the OffsetFactory's class.
 *
 * Flink CDC 2.0–3.5: MySqlSplitSerializer, SourceSplitSerializer, PendingSplitsStateSerializer (of both).
 */
import type { Cursor } from '../io/cursor.js';
import { javaElements } from '../java/collections.js';
import { javaToJson } from '../java/json.js';
import { readJavaObject } from '../java/stream.js';
import { type JavaValue, javaClassName, javaField } from '../java/tree.js';
import { readBson } from './bson.js';
import { checkJson, readCode, readList, readLongUtf8, readName, readOptional, readWhole } from './bytes.js';
import { type Details, type DetailsObject, RawJson } from './details.js';
import type { Enumerator, EnumeratorSplit, SourceFormat, Split } from './format.js';
import { debeziumConnector } from './legacy-sources.js';

/** What a reader of one blob learns about the database on its way. */
class Cdc {
  readonly said = new Set<string>();
  constructor(
    readonly c: Cursor,
    readonly base: boolean,
  ) {}

  get connector(): string | undefined {
    return this.said.size === 1 ? [...this.said][0] : undefined;
  }

  private bound(what: string): Details {
    const { c } = this;
    return readWhole(hexBytes(c, c.utf(what), what), what, x => {
      const value = readJavaObject(x);
      if (value.kind === 'null') return null;
      const elements = javaElements(value);
      if (elements === undefined) return x.fail(`${what} is no array`);
      return elements.map(scalar);
    });
  }

  private factory(): string {
    const { c } = this;
    return readWhole(hexBytes(c, c.utf('offset factory'), 'offset factory'), 'offset factory', x => {
      const name = javaClassName(readJavaObject(x));
      if (name === undefined || !/OffsetFactory$/.test(name)) return x.fail('no offset factory');
      const database = /cdc\.connectors\.([a-z0-9]+)\./.exec(name)?.[1];
      if (database !== undefined && database !== 'base') this.said.add(`${database}-cdc`);
      return name;
    });
  }

  offset(version: number): Details {
    const { c } = this;
    return readOptional(c, () => {
      if (version === 1) return { file: c.utf('file'), pos: c.i64() };
      const text = readLongUtf8(c, 'offset');
      let map: unknown;
      try {
        map = JSON.parse(text);
      } catch {
        return c.fail('offset is no JSON');
      }
      if (typeof map !== 'object' || map === null || Array.isArray(map)) return c.fail('offset is no map');
      const keys = map as Record<string, unknown>;
      const mysql = 'kind' in keys || ('file' in keys && 'pos' in keys);
      if (mysql === this.base && Object.keys(keys).length > 0) c.fail('offset of another connector');
      const connector = this.base ? baseConnector(keys) : 'mysql-cdc';
      if (connector !== undefined) this.said.add(connector);
      return new RawJson(text);
    });
  }

  private catalog(version: number): DetailsObject {
    return this.base && version >= 4 ? { use_catalog_before_schema: this.c.bool() } : {};
  }

  schemas(version: number): Details {
    const { c } = this;
    return readList(c, 'table schemas', 4, () => {
      const catalog = this.catalog(version);
      const table = readName(c, 'table');
      const text = version === 1 ? c.utf('schema') : readLongUtf8(c, 'schema');
      return { table, ...catalog, schema: checkJson(c, text, 'schema') };
    });
  }

  split(version: number): Split {
    const { c } = this;
    const kind = c.i32();
    if (kind === 1) {
      const catalog = this.catalog(version);
      const table = readName(c, 'table');
      const splitId = readName(c, 'split id');
      const details = {
        kind: 'snapshot',
        table,
        split_id: splitId,
        ...catalog,
        split_key_type: readName(c, 'key type'),
        split_start: this.bound('start'),
        split_end: this.bound('end'),
        high_watermark: this.offset(version),
        table_schemas: this.schemas(version),
      };
      return this.result(splitId, details);
    }
    if (kind !== 2) return c.fail(`split of kind ${kind}`);
    const splitId = readName(c, 'split id');
    if (c.utf('key type') !== '') c.fail('a log split with a key type');
    const details = {
      kind: this.base ? 'stream' : 'binlog',
      split_id: splitId,
      starting_offset: this.offset(version),
      ending_offset: this.offset(version),
      finished_splits: readList(c, 'finished splits', 9, () => this.finished(version)),
      table_schemas: this.schemas(version),
      total_finished_split_size: version >= 3 ? c.i32() : undefined,
      is_suspended: (this.base ? version >= 5 : version >= 4 && c.remaining > 0) ? c.bool() : undefined,
      is_snapshot_completed: this.base && version >= 6 ? c.bool() : undefined,
    };
    return { ...this.result(splitId, details), ...place(details.starting_offset) };
  }

  private result(splitId: string, details: DetailsObject): Split {
    const { connector } = this;
    return { splitId, details, ...(connector === undefined ? {} : { connector }) };
  }

  private finished(version: number): DetailsObject {
    const { c } = this;
    return {
      table: readName(c, 'table'),
      split_id: readName(c, 'split id'),
      split_start: this.bound('start'),
      split_end: this.bound('end'),
      ...(this.base ? { offset_factory: this.factory() } : {}),
      high_watermark: this.offset(version),
      ...this.catalog(version),
    };
  }

  private tables(version: number): Details {
    const { c } = this;
    return readList(c, 'tables', 2, () => {
      if (this.base && version >= 5) c.bool();
      return readName(c, 'table');
    });
  }

  private inner(version: number): Split {
    const { c } = this;
    return readWhole(c.slice(c.count('length of a split'), 'split'), 'split', x => {
      const reader = new Cdc(x, this.base);
      const split = reader.split(version);
      for (const s of reader.said) this.said.add(s);
      return split;
    });
  }

  enumerator(version: number): Enumerator {
    const { c, base } = this;
    const splitVersion = c.i32();
    if (splitVersion < 1 || splitVersion > (base ? 6 : 4)) c.fail(`splits of version ${splitVersion}`);
    const kind = c.i32();
    if (kind < 1 || kind > 3) c.fail(`enumerator of kind ${kind}`);
    const splits: EnumeratorSplit[] = [];
    let facts: DetailsObject = { kind: ['', 'snapshot', base ? 'stream' : 'binlog', 'hybrid'][kind] };
    if (kind !== 2) facts = { ...facts, ...this.snapshotState(version, splitVersion, splits) };
    if (kind !== 1) {
      const assigned = c.bool();
      const splitId = base ? 'stream-split' : 'binlog-split';
      const name = base ? 'is_stream_split_assigned' : 'is_binlog_split_assigned';
      facts = { ...facts, [name]: assigned };
      splits.push({
        holder: assigned ? 'enumerator-assigned' : 'enumerator-unassigned',
        split: { splitId, details: { kind: base ? 'stream' : 'binlog', split_id: splitId } },
      });
    }
    const { connector } = this;
    return { splits, facts, ...(connector === undefined ? {} : { connector }) };
  }

  private snapshotState(version: number, splitVersion: number, splits: EnumeratorSplit[]): DetailsObject {
    const { c, base } = this;
    const legacy = version <= 2;
    const done = this.tables(legacy ? 2 : version);
    for (const split of readList(c, 'splits', 4, () => this.inner(splitVersion))) splits.push({ holder: 'enumerator-unassigned', split });
    const assigned = readList(c, 'splits', 6, () => ({ id: readName(c, 'split id'), split: this.inner(splitVersion) }));
    for (const { split } of assigned) splits.push({ holder: 'enumerator-assigned', split });
    const finished = readList(c, 'finished splits', 3, () => ({ split_id: readName(c, 'split id'), offset: this.offset(splitVersion) }));
    const coded = version >= (base ? 6 : 3);
    const status = coded ? readCode(c, STATUS, 'status of the assigner') : c.bool() ? STATUS[1] : STATUS[0];
    const facts = { already_processed_tables: done, split_finished_offsets: finished, assigner_status: status };
    if (legacy) return facts;
    return {
      ...facts,
      remaining_tables: this.tables(version),
      is_table_id_case_sensitive: c.bool(),
      table_schemas: version >= 4 ? this.schemas(splitVersion) : undefined,
      split_finished_checkpoint_ids:
        base && version >= 7
          ? readList(c, 'finished splits', 10, () => ({ split_id: readName(c, 'split id'), checkpoint_id: c.i64() }))
          : undefined,
      chunk_splitter_state:
        version >= (base ? 8 : 5)
          ? readOptional(c, () => ({
              current_splitting_table: readName(c, 'table'),
              next_chunk_start: this.bound('start of a chunk'),
              next_chunk_id: c.i32(),
            }))
          : undefined,
      is_snapshot_meta_released: !base && version >= 6 ? c.bool() : undefined,
    };
  }
}

/** What of a log's position fits in one column: MySQL's marks, Postgres's log sequence number. */
function place(offset: Details): Partial<Split> {
  if (!(offset instanceof RawJson)) return {};
  const { kind, lsn } = JSON.parse(offset.text) as Readonly<Record<string, unknown>>;
  if (kind === 'EARLIEST' || kind === 'LATEST') return { marker: kind === 'EARLIEST' ? 'earliest' : 'latest' };
  return typeof lsn === 'string' && /^\d{1,18}$/.test(lsn) ? { stored: BigInt(lsn) } : {};
}

const STATUS = [
  'INITIAL_ASSIGNING',
  'INITIAL_ASSIGNING_FINISHED',
  'NEWLY_ADDED_ASSIGNING',
  'NEWLY_ADDED_ASSIGNING_SNAPSHOT_FINISHED',
  'NEWLY_ADDED_ASSIGNING_FINISHED',
] as const;

/** Offsets of Db2 and SQL Server without an event number look alike. */
function baseConnector(offset: Readonly<Record<string, unknown>>): string | undefined {
  const connector = debeziumConnector(offset) ?? ('timestamp' in offset ? 'mongodb-cdc' : undefined);
  return connector === 'sqlserver-cdc' && !('event_serial_no' in offset) ? undefined : connector;
}

function hexBytes(c: Cursor, text: string, what: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^(?:[0-9a-fA-F]{2})+$/.test(text)) c.fail(`${what} is no hex text`);
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** An element of a bound. A MongoDB document comes as its text. */
function scalar(value: JavaValue): Details {
  if (value.kind === 'object' && value.classDesc.name === 'org.bson.BsonDocument$SerializationProxy') {
    const bytes = javaField(value, 'bytes');
    if (bytes?.kind === 'primitive-array' && bytes.component === 'B') {
      const { values } = bytes;
      return readWhole(new Uint8Array(values.buffer, values.byteOffset, values.length), 'document', readBson);
    }
  }
  return new RawJson(javaToJson(value));
}

export const MYSQL_CDC_SOURCE: SourceFormat = {
  connector: 'mysql-cdc',
  hint: /mysql/i,
  splitVersions: [1, 4],
  readSplit: (c, version) => new Cdc(c, false).split(version),
  enumeratorVersions: [1, 6],
  readEnumerator: (c, version) => new Cdc(c, false).enumerator(version),
};

export const BASE_CDC_SOURCE: SourceFormat = {
  connector: 'flink-cdc',
  hint: /postgres|mongo|oracle|sqlserver|db2|vitess/i,
  splitVersions: [1, 6],
  readSplit: (c, version) => new Cdc(c, true).split(version),
  enumeratorVersions: [1, 8],
  readEnumerator: (c, version) => new Cdc(c, true).enumerator(version),
};
