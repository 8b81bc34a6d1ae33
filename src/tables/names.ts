/**
 * Names of operators: out of the snapshot (metadata version 5 and later), out of a file of uids, a plan or a stateInfo file,
 * or inferred by hashing candidates. The first that knows an operator wins, in this order.
 */
import type { Metadata } from '../checkpoint/handles.js';
import { inferUids } from '../checkpoint/uid.js';
import type { OperatorView, UidSource } from './states.js';

/** uids of Flink SQL up to this exec node are looked for always: it takes milliseconds */
const SURE_SQL_ID = 200;

export interface KnownName {
  readonly uid: string | null;
  readonly name: string | null;
  readonly source: UidSource;
}

/** Names by operator id, from outside the snapshot. */
export type OperatorNames = ReadonlyMap<string, KnownName>;

/** The operators of a snapshot with what is known of their names, in metadata order. */
export function nameOperators(metadata: Metadata, names: OperatorNames = new Map()): OperatorView[] {
  const nameless = metadata.operators.filter(o => (o.uid ?? '') === '' && !names.has(o.id)).map(o => o.id);
  const inferred = nameless.length === 0 ? undefined : inferUids(nameless, { maxId: SURE_SQL_ID, anyShort: false });
  return metadata.operators.map(operator => {
    const guess = inferred?.get(operator.id);
    const known = names.get(operator.id) ?? (guess === undefined ? undefined : { uid: guess.uid, name: null, source: 'inferred' as const });
    const inSnapshot = operator.uid !== undefined && operator.uid !== '';
    return {
      operator,
      id: operator.id,
      uid: inSnapshot ? (operator.uid as string) : (known?.uid ?? null),
      uidSource: inSnapshot ? ('snapshot' as const) : known?.uid == null ? null : known.source,
      name: operator.name !== undefined && operator.name !== '' ? operator.name : (known?.name ?? null),
    };
  });
}
