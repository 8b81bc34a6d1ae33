/**
 * State of pattern matching (CEP, MATCH_RECOGNIZE): which partial matches there are, and the ids that they refer to events by.
 *
 *   EventId       simple     i32 number among the events of one time · i64 timestamp
 *   NodeId        composite, outer version 1, nested [event id]      u8 0: null | u8 1 · EventId · page name (StringValue)
 *   DeweyNumber   simple     i32 n · n × i32
 *   NFAState      composite, outer version 1 · 2: bool has previous timestamps; nested [version, node id, event id]
 *                 twice, partial and completed matches: i32 n · n × computation state
 *   computation   state name (StringValue) · NodeId · DeweyNumber · i64 start · [i64 previous] · u8 0 | u8 1 · EventId of the start
 *
 * Names are those of Flink's classes; a DeweyNumber is the text of its digits, `[1, 0, 2]`. An NFAState's stateChanged and
 * isNewStartPartialMatch are not stored: they are false, as in every state that was just read.
 *
 * Flink: NFAStateSerializer, DeweyNumber, EventId, NodeId in org.apache.flink.cep.nfa (1.8–2.3).
 */
import type { Cursor } from '../../io/cursor.js';
import { BIGINT, BOOLEAN, INTEGER, list, type SqlType, Struct, struct, VARCHAR, type Value } from '../../types.js';
import { type Codec, codecOf } from '../codec.js';
import { simpleDefinition } from '../simple.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from '../snapshot.js';
import { readFlinkString, STRING_CODEC } from '../string.js';

const EVENT_ID_TYPE = struct(['id', INTEGER], ['timestamp', BIGINT]);
const readEventId = (c: Cursor): Struct => new Struct([c.i32(), c.i64()]);
const skipEventId = (c: Cursor): void => void c.take(12, 'EventId');
const EVENT_ID_CODEC: Codec = codecOf({ type: EVENT_ID_TYPE, length: 12, read: readEventId, skip: skipEventId });

const NODE_ID_TYPE = struct(['pageName', VARCHAR], ['eventId', EVENT_ID_TYPE]);
/** u8 that says whether something follows. */
function isThere(c: Cursor, what: string): boolean {
  const at = c.position;
  const b = c.u8();
  if (b > 1) c.fail(`${what} begins with ${b}, expected 0 or 1`, at);
  return b === 1;
}
function readNodeId(c: Cursor): Value {
  if (!isThere(c, 'NodeId')) return null;
  const event = readEventId(c);
  return new Struct([readFlinkString(c), event]);
}
function skipNodeId(c: Cursor): void {
  if (!isThere(c, 'NodeId')) return;
  skipEventId(c);
  STRING_CODEC.skip(c);
}
export const NODE_ID_CODEC: Codec = codecOf({ type: NODE_ID_TYPE, read: readNodeId, skip: skipNodeId });

const DEWEY_TYPE = struct(['deweyNumber', VARCHAR]);
function readDewey(c: Cursor): Struct {
  const digits: number[] = [];
  for (let n = c.count('digits of a Dewey number', 4); n > 0; n--) digits.push(c.i32());
  return new Struct([`[${digits.join(', ')}]`]);
}
const skipDewey = (c: Cursor): void => void c.take(c.count('digits of a Dewey number', 4) * 4);
export const DEWEY_CODEC: Codec = codecOf({ type: DEWEY_TYPE, read: readDewey, skip: skipDewey });

function nfaStateCodec(withPrevious: boolean): Codec {
  const computation = struct(
    ['currentStateName', VARCHAR],
    ['version', DEWEY_TYPE],
    ['startTimestamp', BIGINT],
    ...(withPrevious ? ([['previousTimestamp', BIGINT]] as const) : []),
    ['previousBufferEntry', NODE_ID_TYPE],
    ['startEventID', EVENT_ID_TYPE],
  );
  const type: SqlType = struct(
    ['partialMatches', list(computation)],
    ['completedMatches', list(computation)],
    ['stateChanged', BOOLEAN],
    ['isNewStartPartialMatch', BOOLEAN],
  );
  // name 1, node 1, version 4, start 8, previous 8, start event 1
  const minBytes = withPrevious ? 23 : 15;

  const readMatches = (c: Cursor): Value[] => {
    const matches: Value[] = [];
    for (let n = c.count('number of matches', minBytes); n > 0; n--) {
      const name = readFlinkString(c);
      const node = readNodeId(c);
      const values: Value[] = [name, readDewey(c), c.i64()];
      if (withPrevious) values.push(c.i64());
      values.push(node, isThere(c, 'start event') ? readEventId(c) : null);
      matches.push(new Struct(values));
    }
    return matches;
  };
  const skipMatches = (c: Cursor): void => {
    for (let n = c.count('number of matches', minBytes); n > 0; n--) {
      STRING_CODEC.skip(c);
      skipNodeId(c);
      skipDewey(c);
      c.take(withPrevious ? 16 : 8, 'timestamps');
      if (isThere(c, 'start event')) skipEventId(c);
    }
  };
  return codecOf({
    type,
    read: c => new Struct([readMatches(c), readMatches(c), false, false]),
    skip(c) {
      skipMatches(c);
      skipMatches(c);
    },
  });
}

const NFA = 'org.apache.flink.cep.nfa.';
export const SERIALIZERS = [
  simpleDefinition(
    [`${NFA}sharedbuffer.EventId$EventIdSerializer$EventIdSerializerSnapshot`],
    'EventIdSerializer',
    'EventId',
    () => EVENT_ID_CODEC,
  ),
  simpleDefinition(
    [`${NFA}DeweyNumber$DeweyNumberSerializer$DeweyNumberSerializerSnapshot`],
    'DeweyNumberSerializer',
    'DeweyNumber',
    () => DEWEY_CODEC,
  ),
  defineSerializer({
    snapshotClasses: [`${NFA}sharedbuffer.NodeId$NodeIdSerializer$NodeIdSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      return { serializer: 'NodeIdSerializer', text: 'NodeId', children: named(['eventId'], nested), codec: () => NODE_ID_CODEC };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${NFA}NFAStateSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { outer: hasPreviousTimestamps, nested } = readComposite(
        c,
        reader,
        (x, outerVersion) => {
          if (outerVersion < 1 || outerVersion > 2) reader.unknownVersion(x);
          return outerVersion === 2 && x.bool();
        },
        3,
      );
      return {
        serializer: 'NFAStateSerializer',
        text: 'NFAState',
        children: named(['version', 'nodeId', 'eventId'], nested),
        details: { hasPreviousTimestamps },
        codec: () => nfaStateCodec(hasPreviousTimestamps),
      };
    },
  }),
];
