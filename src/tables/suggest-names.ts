/**
 * What the user is told beside the rows (contract §4): a constant compared with operator_* or state_name that nothing has,
 * with the nearest name that something has; and how many of the states that a statement shows cannot be decoded.
 *
 * The tables know it: restrictions when they are bound, filters and columns when they are scanned.
 */
import { operatorIdOf } from '../checkpoint/uid.js';
import type { Codec } from '../serializers/codec.js';
import { constantText, operatorMightMatch, restrictionFilters, selectStates, variantMightMatch } from './selection.js';
import type { OpenedSnapshot } from './snapshot.js';
import type { OperatorView, StateKind, StateVariant } from './states.js';
import { nearest } from './suggest.js';
import type { BoundTable, Filter, Table, TableSpec } from './table.js';

const OPERATOR_NAMES: Readonly<Record<string, (o: OperatorView) => string | null>> = {
  operator_id: o => o.id,
  operator_uid: o => o.uid,
  operator_name: o => o.name,
};

/** The states that a table shows, where it does not show all kinds. */
const KINDS: ReadonlyMap<string, readonly StateKind[]> = new Map([
  ['keyed_state', ['keyed']],
  ['keyed_state_raw', ['keyed']],
  ['windows', ['keyed']],
  ['timers', ['timer']],
  ['operator_state', ['operator', 'broadcast']],
  ['operator_state_all', ['operator', 'broadcast']],
  ['operator_state_raw', ['operator', 'broadcast']],
]);
const SEEN_IN: Readonly<Record<StateKind, string>> = {
  keyed: 'keyed state, see keyed_state',
  timer: 'a queue of timers, see timers',
  operator: 'operator state, see operator_state',
  broadcast: 'broadcast state, see operator_state',
};

/** The table, with remarks to the user. */
export function withRemarks(snapshot: OpenedSnapshot, table: Table): Table {
  if (!table.spec.columns.some(c => c.name === 'operator_id' || c.name === 'state_name')) return table;
  return {
    spec: table.spec,
    bind(restrictions): BoundTable {
      const narrowing = restrictionFilters(restrictions);
      remarkNames(snapshot, table.spec, narrowing);
      const bound = table.bind(restrictions);
      return {
        columns: bound.columns,
        scan(request) {
          const filters = [...narrowing, ...request.filters];
          remarkNames(snapshot, table.spec, filters);
          remarkUndecodable(
            snapshot,
            table.spec,
            filters,
            request.columns.map(c => c.name),
          );
          return bound.scan(request);
        },
        explain: request => bound.explain(request),
        ...(bound.pieces === undefined ? {} : { pieces: bound.pieces }),
        get rowCount() {
          return bound.rowCount;
        },
        remarkField: (column, field) => remarkField(snapshot, table.spec, narrowing, column, field),
      };
    },
  };
}

/**
 * A table of some states, with the remark on those that cannot be decoded.
 * @param shown the states that a column shows, and by which codec
 */
export function withStateRemarks(
  snapshot: OpenedSnapshot,
  table: Table,
  shown: (column: string) => readonly (readonly [StateVariant, Codec | undefined])[],
): Table {
  return {
    spec: table.spec,
    bind(restrictions): BoundTable {
      const bound = table.bind(restrictions);
      return {
        ...bound,
        scan(request) {
          const states = request.columns.flatMap(c => shown(c.name));
          tellOpaque(
            snapshot,
            states.filter(([, codec]) => codec?.opaque !== undefined).map(([v]) => v),
            new Set(states.map(([v]) => v)).size,
          );
          return bound.scan(request);
        },
      };
    },
  };
}

/** Tells of every constant that no operator and no state has. */
function remarkNames(snapshot: OpenedSnapshot, spec: TableSpec, filters: readonly Filter[]): void {
  for (const f of filters) {
    if (f.op !== '=' && f.op !== 'in') continue;
    for (const constant of 'values' in f ? f.values : [f.value]) {
      const text = constantText(constant);
      const remark =
        OPERATOR_NAMES[f.column] !== undefined
          ? operatorRemark(snapshot, f.column, text)
          : f.column === 'state_name' && KINDS.get(spec.name)?.[0] !== 'timer'
            ? stateRemark(snapshot, spec, filters, text)
            : undefined;
      if (remark !== undefined) snapshot.warn(remark);
    }
  }
}

/** Undefined when an operator has the name. */
function operatorRemark(snapshot: OpenedSnapshot, column: string, text: string): string | undefined {
  const { operators } = snapshot;
  const known = operators.map(OPERATOR_NAMES[column]).filter(name => name !== null);
  if (known.includes(text)) return undefined;
  const none = `no operator has ${column} '${text}'`;
  for (const [other, nameOf] of Object.entries(OPERATOR_NAMES))
    if (other !== column && operators.some(o => nameOf(o) === text)) return `${none}: it is an ${other}`;
  const id = operatorIdOf(text);
  if (column !== 'operator_id' && operators.some(o => o.id === id))
    return `${none}: the snapshot does not name its operators, but '${text}' is the uid of operator_id '${id}'`;
  const near = column === 'operator_id' ? (nearest(text, known) ?? byPrefix(text, known)) : nearest(text, known);
  if (near !== undefined) return `${none}; did you mean '${near}'?`;
  if (known.length === 0) return `${none}: no ${column} is known of this snapshot; SELECT operator_id FROM operators lists the ids`;
  return `${none}; SELECT operator_id, operator_uid, operator_name FROM operators lists them`;
}

/** The one id that begins so. */
function byPrefix(text: string, ids: readonly string[]): string | undefined {
  const found = text.length < 4 ? [] : ids.filter(id => id.startsWith(text.toLowerCase()));
  return found.length === 1 ? found[0] : undefined;
}

/** Undefined when a state that the table shows, of an operator that the filters leave, has the name. */
function stateRemark(snapshot: OpenedSnapshot, spec: TableSpec, filters: readonly Filter[], text: string): string | undefined {
  const kept = snapshot.operators.filter(o => operatorMightMatch(o, filters));
  // an operator that is not there has its own remark
  if (kept.length === 0) return undefined;
  const kinds = KINDS.get(spec.name);
  const shown = (v: StateVariant) => kinds === undefined || kinds.includes(v.kind);
  const variants = kept.flatMap(o => snapshot.statesOf(o).variants);
  const named = variants.filter(v => v.name === text);
  if (named.some(shown)) return undefined;
  if (named.length > 0) return `state '${text}' is ${SEEN_IN[named[0].kind]}`;
  const none = `no state is called '${text}'${kept.length < snapshot.operators.length ? ' in the operators asked for' : ''}`;
  const elsewhere = snapshot.operators.filter(o => !kept.includes(o)).find(o => snapshot.statesOf(o).variants.some(v => v.name === text));
  if (elsewhere !== undefined) return `${none}: operator ${elsewhere.uid ?? elsewhere.name ?? elsewhere.id} has one`;
  const names = [...new Set(variants.filter(shown).map(v => v.name))];
  const near =
    nearest(text, names) ?? nearest(text, new Set(snapshot.operators.flatMap(o => snapshot.statesOf(o).variants.map(v => v.name))));
  if (near !== undefined) return `${none}; did you mean '${near}'?`;
  return `${none}; SELECT state_name FROM state_meta lists them`;
}

/** What of a state stands in a column. */
const CODECS: ReadonlyMap<string, (v: StateVariant) => Codec | undefined> = new Map(
  (
    [
      ['key', v => v.shape.key],
      ['namespace', v => v.shape.namespace],
      ['map_key', v => v.shape.mapKey],
      ['value', v => v.shape.value],
    ] satisfies (readonly [string, (v: StateVariant) => Codec | undefined])[]
  ).flatMap(([name, of]) => [
    [name, of],
    [`${name}_json`, of],
  ]),
);

/** Tells of a field that the type of no state has: it is NULL in every row. */
function remarkField(snapshot: OpenedSnapshot, spec: TableSpec, filters: readonly Filter[], column: string, field: string): void {
  const kinds = KINDS.get(spec.name);
  const codecOf = CODECS.get(column);
  if (kinds === undefined || codecOf === undefined) return;
  const codecs = selectStates(snapshot.operators, o => snapshot.statesOf(o), filters)
    .flatMap(o => o.variants)
    .filter(v => kinds.includes(v.kind) && variantMightMatch(v, filters))
    .map(codecOf)
    .filter(codec => codec !== undefined);
  const names = new Set<string>();
  for (const { type, opaque } of codecs) {
    // members of maps are data; so is what is decoded in part only
    if (type.kind === 'JSON' || type.kind === 'MAP' || opaque !== undefined) return;
    if (type.kind === 'STRUCT') for (const f of type.fields) names.add(f.name);
  }
  if (codecs.length === 0 || [...names].some(name => name === field)) return;
  const near = nearest(field, names);
  const has = names.size === 0 ? 'there are no fields' : `fields: ${[...names].slice(0, 20).join(', ')}${names.size > 20 ? ', …' : ''}`;
  snapshot.warn(
    `no state that is read has a field '${field}' in ${column}, which is NULL in every row; ${near === undefined ? has : `did you mean '${near}'?`}`,
  );
}

/** Counts the states whose values a scan shows and cannot decode. */
function remarkUndecodable(snapshot: OpenedSnapshot, spec: TableSpec, filters: readonly Filter[], columns: readonly string[]): void {
  const kinds = KINDS.get(spec.name);
  const shown = columns.map(name => CODECS.get(name)).filter(of => of !== undefined);
  if (kinds === undefined || shown.length === 0) return;
  const states = selectStates(snapshot.operators, o => snapshot.statesOf(o), filters)
    .flatMap(o => o.variants)
    .filter(v => kinds.includes(v.kind) && variantMightMatch(v, filters));
  tellOpaque(
    snapshot,
    states.filter(v => shown.some(of => of(v)?.opaque !== undefined)),
    states.length,
  );
}

/** What has been told of each snapshot. */
const TOLD = new WeakMap<OpenedSnapshot, Set<StateVariant>>();

/** Counts states that cannot be decoded, when one of them has not been told of yet: a session says it once of each. */
function tellOpaque(snapshot: OpenedSnapshot, states: Iterable<StateVariant>, of: number): void {
  const opaque = new Set(states);
  const told = TOLD.get(snapshot) ?? new Set();
  if ([...opaque].every(v => told.has(v))) return;
  TOLD.set(snapshot, new Set([...told, ...opaque]));
  const names = [...new Set([...opaque].map(v => v.name))];
  const listed = names.length > 5 ? `${names.slice(0, 5).join(', ')}, …` : names.join(', ');
  snapshot.options.warn?.(
    `${opaque.size} of ${of} states cannot be decoded, in whole or in part (${listed}): reason in state_meta says why`,
  );
}
