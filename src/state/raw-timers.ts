/**
 * Timers as raw keyed state: what jobs with RocksDB state and timers on the heap write (1.6–1.12; later their checkpoints only).
 *
 *   key group   F1 CD 85 9F · i32 version 1 or 2 · i32 n · n × service
 *   service     utf name · serializers of key and namespace · i32 n · n × event timer · i32 n · n × processing timer
 *   timer       key · namespace · i64 timestamp                      (TimerSerializer has the timestamp first, sign bit flipped)
 *   version 2   two versioned snapshots (1.8+)
 *   version 1   i32 2 · 2 × (i32 serializer, i32 configuration) · i32 length · blob, at whose configuration offsets stand
 *               snapshots with their proxy (1.4.1–1.7)
 *
 * Flink: InternalTimerServiceSerializationProxy, InternalTimersSnapshotReaderWriters (1.8–2.3).
 */
import { UnsupportedError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { Window } from '../io/window.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import { opaqueCodec } from '../serializers/opaque.js';
import { readSnapshotWithProxy, readVersionedSnapshot } from '../serializers/registry.js';
import type { EntryCursor, EntryFilter, KeyedHeader, KeyedStateReader, RegisteredState, StateContext } from './entry.js';
import { unknownSnapshot, withWhere } from './header.js';
import { KeyFilter } from './key-filter.js';
import { type KeyGroupPlace, wantedPlaces } from './key-groups.js';
import { sameSnapshot } from './same-state.js';
import { codecsOf, type StateCodecs } from './state-codecs.js';
import { stepOver } from './step-over.js';

const MARKER = Buffer.from('f1cd859f', 'hex');

/** The version of the timers that a key group holds, undefined when it holds none. */
export function rawTimersVersion(source: ByteSource, place: KeyGroupPlace): 1 | 2 | undefined {
  if (place.end - place.start < 8) return undefined;
  const c = new Cursor(source.read(place.start, 8));
  if (!MARKER.equals(c.slice(4))) return undefined;
  const version = c.i32();
  return version === 1 || version === 2 ? version : undefined;
}

interface Service {
  readonly name: string;
  readonly key: SerializerSnapshot;
  readonly namespace: SerializerSnapshot;
}

/** Opens timers; the registered states are those of the first key group, which all others repeat. @param source is closed by the reader */
export function openRawTimers(source: ByteSource, places: readonly KeyGroupPlace[], context: StateContext): KeyedStateReader {
  const services: Service[] = [];
  const walk = new RawTimerWalk(source, context);
  for (const _ of walk.timers(places[0], service => void services.push(service)));
  walk.close();
  const states = services.flatMap(({ name, key, namespace }, i) =>
    ['event', 'processing'].map(
      (domain, j): RegisteredState => ({
        id: 2 * i + j,
        name: `_timer_state/${domain}_${name}`,
        kind: 'timer',
        v2: false,
        value: timerSnapshot(key, namespace),
      }),
    ),
  );
  const header: KeyedHeader = {
    version: 6,
    compressed: false,
    key: services[0]?.key ?? unknownSnapshot('none', 0, 'no timer service'),
    states,
    size: 0,
  };
  return {
    header,
    layout: 'composite',
    backend: 'hashmap',
    entries: filter => new RawTimerCursor(header, services, source, places, filter, context),
    close: () => source.close(),
  };
}

/** What the header of a timer state would say. */
function timerSnapshot(key: SerializerSnapshot, namespace: SerializerSnapshot): SerializerSnapshot {
  return {
    snapshotClass: 'org.apache.flink.streaming.api.operators.TimerSerializerSnapshot',
    version: 2,
    serializer: 'TimerSerializer',
    text: `Timer(${key.text}, ${namespace.text})`,
    children: [
      { name: 'key', snapshot: key },
      { name: 'namespace', snapshot: namespace },
    ],
    details: {},
    codec: () => opaqueCodec('TimerSerializer', 'a timer is no value'),
  };
}

/** Walks the services and timers of key groups. */
class RawTimerWalk {
  readonly window = new Window();
  /** of the current timer: key up to `keyEnd`, namespace up to `namespaceEnd`, then the i64, from the window's position on */
  keyEnd = 0;
  namespaceEnd = 0;
  end = 0;
  private readonly c: Cursor;

  constructor(
    private readonly source: ByteSource,
    private readonly context: StateContext,
  ) {
    this.c = new Cursor(new Uint8Array(0), 0, 0, { file: source.name, where: context.where });
  }

  close(): void {
    this.window.close();
  }

  /**
   * The timers of a key group: yields the number of the timer queue (2 × service, + 1 for processing time) for each.
   * @param onService gets each service before its timers
   */
  *timers(place: KeyGroupPlace, onService: (service: Service, index: number) => void): Generator<number, void, undefined> {
    const { window, source, c } = this;
    const version = rawTimersVersion(source, place);
    window.open(source, place.start, place.end);
    if (version === undefined) window.fail(`key group ${place.keyGroup} does not begin like timers`);
    window.need(12, 'timers');
    window.position += 8;
    const limit = source.base + place.end;
    const services = window.i32('number of timer services');
    if (services < 0) window.fail(`${services} timer services`, window.position - 4);
    for (let s = 0; s < services; s++) {
      let service: Service | undefined;
      const unknown = stepOver(window, c, limit, cursor => {
        service = readService(cursor, version as 1 | 2);
        return undefined;
      });
      if (unknown !== undefined) throw new UnsupportedError(unknown, { file: source.name, offset: window.offset });
      window.position = c.position;
      onService(service as unknown as Service, s);
      const codecs = codecsOf((service as unknown as Service).key, queueOf(service as unknown as Service), this.context.codecs);
      for (const queue of [2 * s, 2 * s + 1]) {
        const n = window.i32('number of timers');
        if (n < 0) window.fail(`${n} timers`, window.position - 4);
        for (let i = 0; i < n; i++) {
          const stuck = stepOver(window, c, limit, cursor => this.readTimer(cursor, codecs));
          if (stuck !== undefined)
            throw new UnsupportedError(`timers of unknown length: ${stuck}`, { file: source.name, offset: window.offset });
          yield queue;
          window.position = this.end;
        }
      }
    }
    if (!window.atEnd()) window.fail(`bytes left over after the timers of key group ${place.keyGroup}`);
  }

  private readTimer(c: Cursor, codecs: StateCodecs): string | undefined {
    codecs.key.skip(c);
    this.keyEnd = c.position;
    if (codecs.key.unbounded === true && c.position === c.end) return codecs.key.opaque ?? 'the key is opaque';
    codecs.namespace.skip(c);
    this.namespaceEnd = c.position;
    if (codecs.namespace.unbounded === true && c.position === c.end) return codecs.namespace.opaque ?? 'the namespace is opaque';
    c.take(8, 'timestamp of the timer');
    this.end = c.position;
    return undefined;
  }
}

function queueOf({ key, namespace }: Service): RegisteredState {
  return { id: 0, name: '', kind: 'timer', v2: false, value: timerSnapshot(key, namespace) };
}

function readService(c: Cursor, version: 1 | 2): Service {
  const name = c.utf('timer service');
  if (version === 2) return { name, key: readVersionedSnapshot(c), namespace: readVersionedSnapshot(c) };
  const at = c.position;
  const n = c.i32();
  if (n !== 2) c.fail(`${n} serializers of a timer service, expected 2`, at);
  const offsets = [c.i32(), c.i32(), c.i32(), c.i32()];
  const length = c.count('bytes of serializers');
  const start = c.take(length, 'serializers');
  const [key, namespace] = [offsets[1], offsets[3]].map(offset => {
    if (offset < 0 || offset > length) c.fail(`serializer at ${offset} of ${length} bytes`, at);
    return readSnapshotWithProxy(new Cursor(c.bytes, start + offset, start + length, c.origin, c.base));
  });
  return { name, key, namespace };
}

/** Shows each timer in the form of TimerSerializer: i64 flipped timestamp · key · namespace. */
class RawTimerCursor implements EntryCursor {
  state = -1;
  keyGroup = -1;
  bytes: Uint8Array = new Uint8Array(64);
  readonly base = -1;
  keyStart = 8;
  keyEnd = 8;
  namespaceStart = 8;
  namespaceEnd = 8;
  userKeyStart = 0;
  userKeyEnd = 8;
  valueStart = 8;
  valueEnd = 8;
  private readonly walk: RawTimerWalk;
  private readonly steps: Generator<undefined, void, undefined>;
  private readonly keyFilter: KeyFilter | undefined;

  constructor(
    private readonly header: KeyedHeader,
    private readonly services: readonly Service[],
    private readonly source: ByteSource,
    private readonly places: readonly KeyGroupPlace[],
    private readonly filter: EntryFilter,
    private readonly context: StateContext,
  ) {
    this.walk = new RawTimerWalk(source, context);
    this.keyFilter = filter.keys === undefined ? undefined : new KeyFilter(filter.keys);
    this.steps = this.run();
  }

  next(): boolean {
    try {
      return this.steps.next().done !== true;
    } catch (error) {
      throw withWhere(error, this.context.where, this.source.name);
    }
  }

  close(): void {
    this.steps.return(undefined);
    this.walk.close();
  }

  private *run(): Generator<undefined, void, undefined> {
    const ids: number[] = [];
    const onService = (service: Service, index: number) => {
      const known = this.services.findIndex(
        other => other.name === service.name && sameSnapshot(other.key, service.key) && sameSnapshot(other.namespace, service.namespace),
      );
      if (known < 0) this.walk.window.fail(`timer service ${service.name} is not one of those of the first key group`);
      ids[index] = known;
    };
    for (const place of wantedPlaces(this.places, this.filter.keyGroups).places) {
      this.keyGroup = place.keyGroup;
      for (const queue of this.walk.timers(place, onService)) {
        const state = 2 * ids[queue >> 1] + (queue & 1);
        if (this.filter.states !== undefined && !this.filter.states.has(this.header.states[state].id)) continue;
        if (this.show(state)) yield undefined;
      }
    }
  }

  private show(state: number): boolean {
    const { window, keyEnd, namespaceEnd, end } = this.walk;
    const { bytes, position } = window;
    if (this.keyFilter !== undefined && !this.keyFilter.has(bytes, position, keyEnd)) return false;
    const length = end - position;
    if (this.bytes.length < length) this.bytes = new Uint8Array(length * 2);
    const out = this.bytes;
    out.set(bytes.subarray(namespaceEnd, end));
    out[0] ^= 0x80;
    out.set(bytes.subarray(position, namespaceEnd), 8);
    this.state = state;
    this.keyEnd = 8 + keyEnd - position;
    this.namespaceStart = this.keyEnd;
    this.namespaceEnd = length;
    this.userKeyEnd = length;
    this.valueStart = length;
    this.valueEnd = length;
    return true;
  }
}
