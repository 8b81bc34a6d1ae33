/**
 * Numbers that Flink writes for a name, with that name beside them: `7 (KeyGroupsSavepointStateHandle)`.
 *
 *   tag of a … handle     state-handle-tags.ts
 *   distribution mode     OperatorStateHandle.Mode
 *   kind of state         StateMetaInfoSnapshot.BackendStateType
 */
import { handleClassOf } from '../checkpoint/state-handle-tags.js';
import type { Note } from './notes.js';

const listed =
  (...names: readonly string[]) =>
  (n: number): string | undefined =>
    names[n];

const NAMES: readonly (readonly [field: RegExp, nameOf: (n: number) => string | undefined])[] = [
  [/\btag of an? [\w ]*handle$/, n => (n === 0 ? 'none' : handleClassOf(n))],
  [/\bdistribution mode$/, listed('SPLIT_DISTRIBUTE', 'UNION', 'BROADCAST')],
  [/\bkind of state$/, listed('KEY_VALUE', 'OPERATOR', 'BROADCAST', 'PRIORITY_QUEUE', 'KEY_VALUE_V2')],
];

/** The note; of a number that stands for a name, with the name. */
export function withName(note: Note): Note {
  if (!/^\d{1,3}$/.test(note.value)) return note;
  const nameOf = NAMES.find(([field]) => field.test(note.field))?.[1];
  const name = nameOf?.(Number(note.value));
  return name === undefined ? note : { ...note, value: `${note.value} (${name})` };
}
