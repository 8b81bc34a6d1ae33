/**
 * Whether two registrations are of one state: equal name and kind, and serializers that decode alike.
 */
import type { SerializerSnapshot } from '../serializers/codec.js';
import type { RegisteredState } from './entry.js';

export function sameState(a: RegisteredState, b: RegisteredState): boolean {
  return (
    a.name === b.name &&
    a.kind === b.kind &&
    a.v2 === b.v2 &&
    a.stateType === b.stateType &&
    a.mode === b.mode &&
    sameSnapshot(a.key, b.key) &&
    sameSnapshot(a.namespace, b.namespace) &&
    sameSnapshot(a.value, b.value) &&
    sameSnapshot(a.userKey, b.userKey)
  );
}

export function sameSnapshot(a: SerializerSnapshot | undefined, b: SerializerSnapshot | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  return (
    a.snapshotClass === b.snapshotClass &&
    a.version === b.version &&
    a.text === b.text &&
    a.children.length === b.children.length &&
    JSON.stringify(a.details) === JSON.stringify(b.details) &&
    a.children.every((child, i) => child.name === b.children[i].name && sameSnapshot(child.snapshot, b.children[i].snapshot))
  );
}
