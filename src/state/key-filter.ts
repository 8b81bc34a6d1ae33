/**
 * A set of serialized keys, asked about bytes in a window without copying them.
 */

export class KeyFilter {
  /** by hash: few keys have equal ones */
  private readonly byHash = new Map<number, Uint8Array[]>();
  private readonly few: readonly Uint8Array[] | undefined;
  /** the key, when there is only one, and not empty */
  readonly single: Uint8Array | undefined;

  constructor(keys: readonly Uint8Array[]) {
    this.few = keys.length <= 8 ? keys : undefined;
    this.single = keys.length === 1 && keys[0].length > 0 ? keys[0] : undefined;
    for (const key of keys) {
      const hash = hashOf(key, 0, key.length);
      const same = this.byHash.get(hash);
      if (same === undefined) this.byHash.set(hash, [key]);
      else same.push(key);
    }
  }

  /** Whether what begins at `start` might begin with one of the keys: no only when none does. */
  mightBegin(bytes: Uint8Array, start: number, end: number): boolean {
    if (this.few === undefined) return true;
    for (const key of this.few) if (end - start >= key.length && equal(bytes, start, key)) return true;
    return false;
  }

  /** Whether bytes[start, end) is one of the keys. */
  has(bytes: Uint8Array, start: number, end: number): boolean {
    const same = this.byHash.get(hashOf(bytes, start, end));
    if (same === undefined) return false;
    for (const key of same) if (key.length === end - start && equal(bytes, start, key)) return true;
    return false;
  }
}

function equal(bytes: Uint8Array, start: number, key: Uint8Array): boolean {
  for (let i = key.length - 1; i >= 0; i--) if (bytes[start + i] !== key[i]) return false;
  return true;
}

/** FNV-1a */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash;
}
