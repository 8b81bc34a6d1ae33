/**
 * state_stats: for each keyed state and timer service how much it holds, and what stands out. It reads all keyed state.
 *
 * Keys are counted exactly. Where a backend keeps all entries of a key together that costs nothing; otherwise (timers, namespaces in
 * heap files, changelogs) the keys of one key group are remembered, of changelogs those of one operator.
 */
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import { jsonOf } from '../io/json.js';
import { opaqueJson } from '../serializers/opaque.js';
import { BIGINT, DOUBLE, INTEGER, JSON_TYPE, JsonText, VARCHAR } from '../types.js';
import { countRows } from './entry-counts.js';
import { operatorScope } from './explain.js';
import type { KeyedRow } from './keyed-rows.js';
import { type Row, rowTable } from './row-table.js';
import { operatorMightMatch, variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import { column, OPERATOR_COLUMNS, STATE_NAME } from './spec.js';
import type { StateVariant } from './states.js';
import type { Filter, Table, TableSpec } from './table.js';

export const STATE_STATS: TableSpec = {
  name: 'state_stats',
  aliases: ['StateStats'],
  description: 'entries, keys, bytes and extremes of each keyed state and timer service; reads all keyed state',
  columns: [
    ...OPERATOR_COLUMNS,
    STATE_NAME,
    column('state_kind', VARCHAR, 'keyed or timer'),
    column('variant', INTEGER, 'number of the form, from 0, where subtasks differ; otherwise 0'),
    column('entries', BIGINT, 'values, list elements, map entries or timers: rows of keyed_state or timers'),
    column('keys', BIGINT, 'different keys'),
    column('size_bytes', BIGINT, 'serialized bytes: each key and namespace once, map keys and values'),
    column('max_value_size', BIGINT, 'bytes of the largest value, list element or map value'),
    column('mean_value_size', DOUBLE, 'mean bytes of values, list elements or map values'),
    column('longest_list', BIGINT, 'elements of the longest list; NULL unless it is a list'),
    column('max_key_size', BIGINT, 'bytes of the largest serialized key'),
    column('largest_key', JSON_TYPE, 'the key that holds the most bytes (in one namespace)'),
    column('largest_key_bytes', BIGINT, 'bytes that it holds, its own among them'),
    column('expired', BIGINT, 'entries whose time to live is over at --as-of; NULL without a known duration'),
  ],
  examples: ['SELECT operator_uid, state_name, entries, keys, size_bytes FROM state_stats ORDER BY size_bytes DESC'],
};

export function stateStatsTable(snapshot: OpenedSnapshot): Table {
  return rowTable(STATE_STATS, filters => stateStatsRows(snapshot, filters), {
    scope: filters => operatorScope(snapshot, filters),
  });
}

class Stats {
  entries = 0;
  keys = 0;
  bytes = 0;
  values = 0;
  valueBytes = 0;
  maxValue = -1;
  longestList = 0;
  maxKey = -1;
  largestKey: Uint8Array | undefined;
  largestBytes = -1;
  expired = 0;
  /** of the key and namespace whose rows are being counted */
  private runBytes = 0;
  private readonly seen = new Map<number, Set<string>>();

  constructor(
    private readonly variant: StateVariant,
    private readonly ttl: bigint | undefined,
    private readonly now: bigint,
  ) {}

  add(row: KeyedRow, bytes: number, valueBytes: number, begins: boolean): void {
    this.entries++;
    this.bytes += bytes;
    if (valueBytes >= 0) {
      this.values++;
      this.valueBytes += valueBytes;
      if (valueBytes > this.maxValue) this.maxValue = valueBytes;
    }
    if (row.listIndex >= this.longestList) this.longestList = row.listIndex + 1;
    if (begins) {
      this.runBytes = 0;
      this.countKey(row);
    }
    this.runBytes += bytes;
    if (this.runBytes > this.largestBytes) {
      if (begins || this.largestBytes < 0 || !this.isLargest(row)) this.largestKey = row.entry.bytes.slice(row.keyStart, row.keyEnd);
      this.largestBytes = this.runBytes;
    }
    if (this.ttl !== undefined && row.ttlAt >= 0) {
      const at = row.cursor.reset(row.entry.bytes, row.ttlAt, row.ttlAt + 8).i64();
      if (at + this.ttl <= this.now) this.expired++;
    }
  }

  private isLargest({ entry, keyStart, keyEnd }: KeyedRow): boolean {
    const { largestKey } = this;
    return largestKey !== undefined && Buffer.compare(largestKey, entry.bytes.subarray(keyStart, keyEnd)) === 0;
  }

  private countKey(row: KeyedRow): void {
    const { entry, keyStart, keyEnd } = row;
    if (keyEnd - keyStart > this.maxKey) this.maxKey = keyEnd - keyStart;
    const { backend, shape, kind } = this.variant;
    if (kind !== 'timer' && backend !== 'changelog' && shape.namespace === undefined) {
      this.keys++;
      return;
    }
    let group = this.seen.get(entry.keyGroup);
    if (group === undefined) {
      // changelogs go over the key groups twice: those of the base, then their own
      if (backend !== 'changelog') this.seen.clear();
      group = new Set();
      this.seen.set(entry.keyGroup, group);
    }
    const key = Buffer.from(entry.bytes.buffer, entry.bytes.byteOffset + keyStart, keyEnd - keyStart).toString('latin1');
    if (group.has(key)) return;
    group.add(key);
    this.keys++;
  }

  row(): Row {
    const { variant, largestKey } = this;
    const some = (n: number) => (n < 0 ? null : BigInt(n));
    return {
      operator_id: variant.operator.id,
      operator_uid: variant.operator.uid,
      operator_name: variant.operator.name,
      state_name: variant.name,
      state_kind: variant.kind,
      variant: variant.variant,
      entries: BigInt(this.entries),
      keys: BigInt(this.keys),
      size_bytes: BigInt(this.bytes),
      max_value_size: some(this.maxValue),
      mean_value_size: this.values === 0 ? null : this.valueBytes / this.values,
      longest_list: variant.shape.form === 'list' ? BigInt(this.longestList) : null,
      max_key_size: some(this.maxKey),
      largest_key: largestKey === undefined ? null : new JsonText(keyJson(variant, largestKey)),
      largest_key_bytes: some(this.largestBytes),
      expired: this.ttl === undefined || !variant.shape.ttl ? null : BigInt(this.expired),
    };
  }
}

function keyJson({ shape }: StateVariant, bytes: Uint8Array): string {
  const codec = shape.key;
  if (codec === undefined) return opaqueJson('unknown', bytes);
  try {
    const c = new Cursor(bytes);
    const value = codec.read(c);
    c.expectEnd('the key');
    return jsonOf(codec.type, value);
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    return opaqueJson('unknown', bytes);
  }
}

function* stateStatsRows(snapshot: OpenedSnapshot, filters: readonly Filter[]): Generator<Row | undefined> {
  for (const view of snapshot.operators) {
    if (!operatorMightMatch(view, filters)) continue;
    const states = snapshot.statesOf(view);
    const stats = new Map<StateVariant, Stats>();
    for (const v of states.variants)
      if ((v.kind === 'keyed' || v.kind === 'timer') && variantMightMatch(v, filters))
        stats.set(v, new Stats(v, snapshot.ttlOf(v), snapshot.asOfMillis));
    if (stats.size === 0) continue;
    yield* countRows(snapshot, states, filters, (row, bytes, valueBytes, begins) =>
      stats.get(row.variant)?.add(row, bytes, valueBytes, begins),
    );
    for (const s of stats.values()) yield s.row();
  }
}
