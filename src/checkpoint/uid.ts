/**
 * Operator ids and uids. An operator's id is the MurmurHash3 of its uid (`uid("x")`); `_metadata` before V5 has the ids only.
 *
 *   operatorIdOf     uid → id
 *   matchUids        a list of uids against ids
 *   inferUids        ids → uids, without a list: the hash is undone (`murmur3.ts`) for every form that a uid commonly has:
 *                    what Flink SQL generates, and whatever has at most 16 bytes, since those determine the hash one to one
 *
 * An inferred uid hashes to the id exactly. That it is a uid, and no chance text, follows from all its characters being plausible:
 * of a million ids that come from no uid, fewer than one would look like one.
 *
 * Flink: StreamGraphHasherV2, Guava's Hashing.murmur3_128(0); StreamGraphHasherV2 hashes the uid's UTF-8 bytes.
 */
import { UsageError } from '../errors.js';
import { absorbBlock, type MurmurState, murmur3, releaseBlock, solveBlock, unfinish } from './murmur3.js';
import { parseSqlUid, sqlUidPatterns, TRANSFORMATIONS, type UidPattern } from './sql-uids.js';

const encoder = new TextEncoder();

/** The operator id (32 hex digits) of a uid. */
export function operatorIdOf(uid: string): string {
  return Buffer.from(murmur3(encoder.encode(uid))).toString('hex');
}

export interface UidEntry {
  readonly uid: string;
  /** what to call the operator */
  readonly name: string | undefined;
}

/** A file of uids: one a line, after a tab an optional name. Empty lines and lines that begin with `#` are passed over. @throws UsageError */
export function parseUidsFile(text: string, file?: string): UidEntry[] {
  const entries: UidEntry[] = [];
  text.split(/\r\n|\r|\n/).forEach((line, i) => {
    const bare = i === 0 ? line.replace(/^\ufeff/, '') : line;
    if (bare.trim() === '' || bare.startsWith('#')) return;
    const [uid, name, ...rest] = bare.split('\t');
    if (uid === '' || rest.length > 0)
      throw new UsageError(`line ${i + 1} of the uids is neither a uid nor a uid, a tab and a name`, {
        ...(file === undefined ? {} : { file }),
      });
    entries.push({ uid, name: name?.trim() || undefined });
  });
  return entries;
}

/** The forms in which a sink's uid appears in the ids of its operators. */
function uidForms(uid: string): string[] {
  return [uid, `Sink Committer: ${uid}`, `Sink ${uid} Global Committer`];
}

/** Which of the ids belong to uids of the list. A 32-digit hex uid stands for the id itself (`setUidHash`). */
export function matchUids(operatorIds: readonly string[], entries: readonly UidEntry[]): Map<string, UidEntry> {
  const wanted = new Set(operatorIds);
  const found = new Map<string, UidEntry>();
  for (const { uid, name } of entries)
    for (const form of uidForms(uid)) {
      const id = operatorIdOf(form);
      if (wanted.has(id) && !found.has(id)) found.set(id, { uid: form, name: form === uid ? name : undefined });
    }
  for (const entry of entries) {
    const id = entry.uid.toLowerCase();
    if (/^[0-9a-f]{32}$/.test(id) && wanted.has(id) && !found.has(id)) found.set(id, entry);
  }
  return found;
}

export interface InferOptions {
  /** highest exec node id of SQL uids; 10,000 when left out */
  readonly maxId?: number;
  /** false: only the forms of Flink SQL, not short uids of any text */
  readonly anyShort?: boolean;
}

export interface InferredUid {
  readonly uid: string;
  /** `sql`: a form that Flink SQL generates; `short`: any text of at most 16 bytes; `derived`: around another inferred uid */
  readonly how: 'sql' | 'short' | 'derived';
}

/** The uids of the ids, where they can be found; milliseconds for hundreds of operators. */
export function inferUids(operatorIds: readonly string[], options: InferOptions = {}): Map<string, InferredUid> {
  const maxId = options.maxId ?? 10_000;
  const found = new Map<string, InferredUid>();
  for (const id of operatorIds) {
    if (!/^[0-9a-f]{32}$/.test(id)) continue;
    const target = new Target(id);
    const short = shortUidOf(target);
    const sql = short === undefined ? sqlUidOf(target, maxId) : isSqlUid(short, maxId) ? short : undefined;
    if (sql !== undefined) found.set(id, { uid: sql, how: 'sql' });
    else if (short !== undefined && options.anyShort !== false) found.set(id, { uid: short, how: 'short' });
  }
  const wanted = new Set(operatorIds.filter(id => !found.has(id)));
  for (const { uid } of [...found.values()])
    for (const form of uidForms(uid).slice(1)) {
      const id = operatorIdOf(form);
      if (wanted.has(id)) found.set(id, { uid: form, how: 'derived' });
    }
  return found;
}

/** An operator id, and the hash's state before its end for each length of input, computed when first asked for. */
class Target {
  readonly digest: Uint8Array;
  private readonly states: (MurmurState | undefined)[] = [];
  constructor(readonly id: string) {
    this.digest = Uint8Array.from(Buffer.from(id, 'hex'));
  }
  /** A copy: callers undo blocks in place. */
  stateBeforeEnd(length: number): MurmurState {
    let state = this.states[length];
    if (state === undefined) {
      state = unfinish(this.digest, length);
      this.states[length] = state;
    }
    return state.slice();
  }
}

interface EncodedPattern {
  readonly pattern: UidPattern;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** state after the whole blocks of `before` */
  readonly start: MurmurState;
}
let encodedPatterns: readonly EncodedPattern[] | undefined;

function patternsAsBytes(): readonly EncodedPattern[] {
  encodedPatterns ??= sqlUidPatterns().map(pattern => {
    const before = encoder.encode(pattern.before);
    const start: MurmurState = new Int32Array(4);
    for (let at = 0; at + 16 <= before.length; at += 16) absorbBlock(start, before, at, before.length, true);
    return { pattern, before, after: encoder.encode(pattern.after), start };
  });
  return encodedPatterns;
}

const INPUT = new Uint8Array(256);
const SOLVED = new Uint8Array(16);

/** Whether a text is one that Flink SQL makes, with a node id up to `maxId`. */
function isSqlUid(uid: string, maxId: number): boolean {
  const parsed = parseSqlUid(uid);
  return parsed !== undefined && parsed.nodeId <= maxId && TRANSFORMATIONS.includes(parsed.transformation);
}

/** Only uids of more than 16 bytes: shorter ones are found without patterns. */
function sqlUidOf(target: Target, maxId: number): string | undefined {
  const maxDigits = Math.min(9, String(Math.max(0, maxId)).length);
  for (const encoded of patternsAsBytes())
    for (let digits = 1; digits <= maxDigits; digits++) {
      const number = solveNumber(target, encoded, digits);
      if (number !== undefined && number <= maxId) return `${encoded.pattern.before}${number}${encoded.pattern.after}`;
    }
  return undefined;
}

/** The number of so many digits with which the pattern hashes to the target. The digits lie in one block (they are at most 9). */
function solveNumber(target: Target, { before, after, start }: EncodedPattern, digits: number): number | undefined {
  const length = before.length + digits + after.length;
  if (length <= 16 || length > INPUT.length) return undefined;
  INPUT.set(before, 0);
  INPUT.set(after, before.length + digits);
  const block = before.length - (before.length % 16);
  const state = target.stateBeforeEnd(length);
  for (let at = length - ((length + 15) % 16) - 1; at > block; at -= 16) releaseBlock(state, INPUT, at, length, at + 16 <= length);
  solveBlock(start, state, block + 16 <= length, SOLVED);
  let number = 0;
  for (let i = 0; i < 16; i++) {
    const at = block + i;
    const byte = SOLVED[i];
    if (at >= before.length && at < before.length + digits) {
      if (byte < 0x30 || byte > 0x39) return undefined;
      number = number * 10 + byte - 0x30;
    } else if (byte !== (at < length ? INPUT[at] : 0)) return undefined;
  }
  return digits > 1 && number < 10 ** (digits - 1) ? undefined : number;
}

const NO_BYTES: MurmurState = new Int32Array(4);
/** What uids of many bytes are made of: the longer the text, the less a zero byte behind it confirms that it is one. */
const PLAIN = /^[A-Za-z0-9 _.:\-/#()>,[\]@+=$]+$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The one text of at most 16 bytes that hashes to the target, if there is one. */
function shortUidOf(target: Target): string | undefined {
  for (let length = 1; length <= 16; length++) {
    solveBlock(NO_BYTES, target.stateBeforeEnd(length), length === 16, SOLVED);
    if (!SOLVED.subarray(length).every(b => b === 0)) continue;
    let text: string;
    try {
      text = decoder.decode(SOLVED.subarray(0, length));
    } catch {
      continue;
    }
    if (length > 12 ? PLAIN.test(text) : !/[\u0000-\u001f\u007f-\u009f]/.test(text)) return text;
  }
  return undefined;
}
