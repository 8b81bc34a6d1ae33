/**
 * One change of a changelog.
 *
 *   registration   i8 8 · i32 version · state (header.ts) · [keyed: bool ttl · [ttl: Java stream of StateTtlConfig] ·
 *                  bool default · [default: value]] · i16 state id · i8 kind
 *   change         i8 op · i16 state id · [keyed: key · namespace] · payload
 *
 *   op                      payload
 *   0 clear                 -
 *   1, 2 set                the whole value; of lists i32 n · n × element
 *   3 add                   list: i32 n · n × element          map: i32 n · n × (key · bool isNull · [value])
 *   4 merge namespaces      target · i32 n · n × source; the merged value itself is not written
 *   5 add element           list: element                      timers: i32 n · n × timer
 *   6 put                   map key · value
 *   7 remove                map key                            timer
 *
 * Keys carry neither key group nor lengths. Flink: StateChangeOperation, KvStateChangeLoggerImpl,
 * PriorityQueueStateChangeLoggerImpl, ChangelogBackendLogApplier (1.15–2.3).
 */
import { StateQueryError } from '../errors.js';
import type { Cursor } from '../io/cursor.js';
import { readJavaObject } from '../java/stream.js';
import { isJavaInstance, type JavaValue, javaAnnotation, javaField } from '../java/tree.js';
import type { RegisteredState } from './entry.js';
import { readStateMetaInfo } from './header.js';

export const CLEAR = 0;
export const SET = 1;
export const SET_INTERNAL = 2;
export const ADD = 3;
export const MERGE_NAMESPACES = 4;
export const ADD_ELEMENT = 5;
export const PUT = 6;
export const REMOVE = 7;
const REGISTER = 8;

export interface Registration {
  /** how the changes that follow call the state */
  readonly changeId: number;
  /** `id` as given */
  readonly state: RegisteredState;
}

/** Reads the registration of a state; it ends at the cursor's end. @param id of the RegisteredState made */
export function readRegistration(c: Cursor, id: number): Registration {
  const op = c.i8();
  if (op !== REGISTER) c.fail(`change ${op} among the registrations of states, expected ${REGISTER}`, c.position - 1);
  const version = c.i32();
  if (version !== 6 && version !== 7) c.fail(`state format ${version} in a changelog, expected 6 or 7`, c.position - 4);
  const { end } = c;
  // what lies between may be of unknown length, the last three bytes never are
  if (c.remaining < 3) c.fail('the registration of a state is cut off');
  c.end = end - 3;
  const state = readStateMetaInfo(c, id);
  const ttlMillis = state.kind === 'keyed' && c.remaining > 1 ? readTtl(c) : undefined;
  c.position = end - 3;
  c.end = end;
  const changeId = c.i16();
  c.i8();
  return { changeId, state: ttlMillis === undefined ? state : { ...state, ttlMillis } };
}

/** bool ttl · Java stream of StateTtlConfig. @returns the time to live in ms, undefined when there is none or it cannot be told */
function readTtl(c: Cursor): number | undefined {
  try {
    if (!c.bool()) return undefined;
    const config = readJavaObject(c);
    if (!isJavaInstance(config, 'org.apache.flink.api.common.state.StateTtlConfig')) return undefined;
    return millisOf(javaField(config, 'ttl'));
  } catch (error) {
    if (error instanceof StateQueryError) return undefined;
    throw error;
  }
}

const UNIT_MILLIS: Readonly<Record<string, number>> = {
  NANOSECONDS: 1e-6,
  MICROSECONDS: 1e-3,
  MILLISECONDS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
};

/** org.apache.flink.api.common.time.Time (1.x: fields unit, size) or java.time.Duration (2.x: u8 1 · i64 seconds · i32 nanoseconds) */
function millisOf(ttl: JavaValue | undefined): number | undefined {
  if (ttl === undefined || ttl.kind !== 'object') return undefined;
  const unit = javaField(ttl, 'unit');
  const size = javaField(ttl, 'size');
  if (unit?.kind === 'enum' && size?.kind === 'long') {
    const millis = UNIT_MILLIS[unit.constant];
    return millis === undefined ? undefined : Math.floor(Number(size.value) * millis);
  }
  const [block] = javaAnnotation(ttl);
  if (block?.kind !== 'block' || block.bytes.length !== 13 || block.bytes[0] !== 1) return undefined;
  const view = new DataView(block.bytes.buffer, block.bytes.byteOffset, 13);
  return Number(view.getBigInt64(1)) * 1000 + Math.floor(view.getInt32(9) / 1e6);
}
