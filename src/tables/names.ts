/**
 * Names of operators: out of the snapshot (metadata version 5 and later), out of a file of uids, a plan or a stateInfo file,
 * or inferred by hashing candidates. The first that knows an operator wins, in this order.
 */
import type { Metadata } from '../checkpoint/handles.js';
import { inferUids } from '../checkpoint/uid.js';
import type { OperatorNames } from '../names/operator-names.js';
import type { OperatorView } from './states.js';

/** uids of Flink SQL up to this exec node are looked for always: it takes milliseconds */
const SURE_SQL_ID = 200;

/** The operators of a snapshot with what is known of their names, in metadata order. */
export function nameOperators(metadata: Metadata, names: OperatorNames = new Map()): OperatorView[] {
  const nameless = metadata.operators.filter(o => (o.uid ?? '') === '' && (names.get(o.id)?.uid ?? null) === null).map(o => o.id);
  const inferred = nameless.length === 0 ? undefined : inferUids(nameless, { maxId: SURE_SQL_ID, anyShort: false });
  return metadata.operators.map(operator => {
    const guess = inferred?.get(operator.id);
    const given = names.get(operator.id);
    const uid = given?.uid ?? guess?.uid ?? null;
    const source = given?.uid == null ? ('inferred' as const) : given.source;
    const inSnapshot = operator.uid !== undefined && operator.uid !== '';
    return {
      operator,
      id: operator.id,
      uid: inSnapshot ? (operator.uid as string) : uid,
      uidSource: inSnapshot ? ('snapshot' as const) : uid === null ? null : source,
      name: operator.name !== undefined && operator.name !== '' ? operator.name : (given?.name ?? null),
      ...(given?.planLabel === undefined ? {} : { planLabel: given.planLabel }),
      namings: given?.namings ?? [],
    };
  });
}
