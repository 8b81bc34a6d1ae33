/**
 * What the user says of states that are not there: settings by state (`--ttl`, `--proto-type`) and names for the columns of a state
 * (`--names`). Such an entry changes nothing, so it is told, with the nearest name. Reads the headers of the operators that it is about.
 */
import type { OpenedSnapshot } from './snapshot.js';
import type { OperatorView, StateVariant } from './states.js';
import { nearest } from './suggest.js';

interface StateSetting {
  readonly operator?: string;
  readonly state: string;
}

/** Tells of every setting that no state has. */
export function tellUnusedSettings(snapshot: OpenedSnapshot): void {
  const { ttl = [], proto } = snapshot.options;
  for (const [name, readings] of byName(ttl)) {
    const found = statesOf(snapshot, readings);
    if (found.length === 0) snapshot.warn(`--ttl ${name}: ${absent(snapshot, name, readings)}`);
    else if (!found.some(v => v.kind === 'keyed' && v.shape.ttl))
      snapshot.warn(`--ttl ${name}: the state has no TTL, so ttl_expires_at stays NULL`);
  }
  for (const [name, readings] of byName(proto?.types ?? []))
    if (statesOf(snapshot, readings).length === 0) snapshot.warn(`--proto-type ${name}: ${absent(snapshot, name, readings)}`);
  for (const operator of snapshot.operators)
    for (const { source, states = [] } of operator.namings) {
      if (states.length === 0) continue;
      const known = new Set(snapshot.statesOf(operator).variants.map(v => v.name));
      for (const state of states) if (!known.has(state)) snapshot.warn(`${source}: ${noState(operator, state, known)}`);
    }
}

/** The settings by what was written: `a.b` may be a state, or a state `b` of an operator `a`. */
function byName<T extends StateSetting>(settings: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const setting of settings) {
    const name = setting.operator === undefined ? setting.state : `${setting.operator}.${setting.state}`;
    groups.set(name, [...(groups.get(name) ?? []), setting]);
  }
  return groups;
}

const namesOf = ({ id, uid, name }: OperatorView): string[] => [id, uid, name].filter(n => n !== null);

function statesOf(snapshot: OpenedSnapshot, readings: readonly StateSetting[]): readonly StateVariant[] {
  return readings.flatMap(({ operator, state }) =>
    snapshot.operators
      .filter(o => operator === undefined || namesOf(o).includes(operator))
      .flatMap(o => snapshot.statesOf(o).variants.filter(v => v.name === state)),
  );
}

/** Why none is found, by the reading that comes nearest. */
function absent(snapshot: OpenedSnapshot, name: string, readings: readonly StateSetting[]): string {
  for (const { operator, state } of readings) {
    const view = operator === undefined ? undefined : snapshot.operators.find(o => namesOf(o).includes(operator));
    if (view !== undefined) return noState(view, state, new Set(snapshot.statesOf(view).variants.map(v => v.name)));
  }
  for (const { operator, state } of readings) {
    const owner =
      operator === undefined ? undefined : snapshot.operators.find(o => snapshot.statesOf(o).variants.some(v => v.name === state));
    if (operator === undefined || owner === undefined) continue;
    const near = nearest(operator, snapshot.operators.flatMap(namesOf)) ?? owner.uid ?? owner.id;
    return `no operator is called '${operator}'; did you mean '${near}'?`;
  }
  const names = new Set(snapshot.operators.flatMap(o => snapshot.statesOf(o).variants.map(v => v.name)));
  return `no state is called '${name}'${suggestion(name, names)}`;
}

function noState(operator: OperatorView, state: string, names: ReadonlySet<string>): string {
  return `operator ${operator.uid ?? operator.name ?? operator.id} has no state '${state}'${suggestion(state, names)}`;
}

/** So many names are listed where none is near. */
const LISTED = 8;

function suggestion(name: string, names: ReadonlySet<string>): string {
  const near = nearest(name, names);
  if (near !== undefined) return `; did you mean '${near}'?`;
  if (names.size === 0) return '; it has none';
  return names.size > LISTED ? '; SELECT state_name FROM state_meta lists them' : `; there are ${[...names].join(', ')}`;
}
