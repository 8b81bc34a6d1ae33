/** Changelog files (dstl) and channel state as notes. Layouts: change-sets.ts, change.ts and channel.ts of `state/`. */
import type { ChangelogStreamHandle, ChannelHandle } from '../checkpoint/handles.js';
import { StateQueryError } from '../errors.js';
import { Cursor } from '../io/cursor.js';
import type { ByteSource } from '../io/source.js';
import { readRegistration } from '../state/change.js';
import { REGISTRATIONS, readChangeSets } from '../state/change-sets.js';
import { openChannels } from '../state/channel.js';
import type { StateContext } from '../state/entry.js';
import { frameNotes } from './frames.js';
import { type Budget, covered, hexText, type Note, unreadable } from './notes.js';

const OPERATIONS = ['clear', 'set', 'set internal', 'add', 'merge namespaces', 'add element', 'put', 'remove', 'registration'];

/** A changelog file: change sets of all operators and subtasks that wrote to it, one behind the other. */
export function* changelogNotes(
  source: ByteSource,
  handles: readonly { readonly handle: ChangelogStreamHandle; readonly context: StateContext }[],
  budget: Budget,
): Generator<Note> {
  if (source.size === 0) return;
  const flag = source.read(0, 1)[0];
  yield { offset: source.base, length: 1, field: 'compressed', value: String(flag) };
  if (flag !== 1) {
    yield* setNotes(source, budget);
    return;
  }
  yield* frameNotes(source, 1, source.size);
  for (const { handle, context } of handles) {
    const offset = source.base + 1;
    const notes: Note[] = [];
    try {
      readChangeSets(handle, context, false, (keyGroup, change) => {
        if (budget.left === 0) return false;
        budget.left--;
        const bytes = change.bytes.slice(change.position, change.end);
        notes.push({
          offset,
          length: 0,
          field: `${context.where}, key group ${keyGroup}: ${OPERATIONS[bytes[0]] ?? 'change'}`,
          value: changeText(keyGroup, bytes),
        });
        return true;
      });
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      notes.push(unreadable(offset, 0, error));
    }
    yield* notes;
  }
}

function changeText(keyGroup: number, bytes: Uint8Array): string {
  if (keyGroup === REGISTRATIONS) {
    try {
      const { changeId, state } = readRegistration(new Cursor(bytes), 0);
      return `state ${changeId} is ${state.name} (${state.kind})`;
    } catch (error) {
      if (!(error instanceof StateQueryError)) throw error;
      return hexText(bytes);
    }
  }
  return bytes.length < 3 ? hexText(bytes) : `state ${(bytes[1] << 8) | bytes[2]}: ${hexText(bytes.subarray(3))}`;
}

/** Sets back to back up to the end of the file. */
function* setNotes(source: ByteSource, budget: Budget): Generator<Note> {
  let at = 1;
  const int = (field: string): { readonly note: Note; readonly value: number } => {
    const value = new Cursor(source.read(at, 4), 0, 4, { file: source.name }, source.base + at).i32();
    const note = { offset: source.base + at, length: 4, field, value: String(value) };
    at += 4;
    return { note, value };
  };
  try {
    for (let set = 0; at < source.size; set++) {
      const groups = int(`change set ${set}: number of groups`);
      yield groups.note;
      for (let g = 0; g < groups.value; g++) {
        const changes = int('number of changes');
        yield changes.note;
        const group = int('key group');
        yield group.note;
        for (let i = 0; i < changes.value; i++) {
          if (budget.left === 0) {
            if (at < source.size)
              yield { offset: source.base + at, length: source.size - at, field: 'further changes', value: `${source.size - at} bytes` };
            return;
          }
          budget.left--;
          const begin = at;
          const length = int('length of the change');
          if (length.value < 0 || length.value > source.size - at) {
            at = begin;
            throw new StateQueryError('CORRUPT', 5, `change of ${length.value} bytes, ${source.size - at - 4} remain`);
          }
          yield length.note;
          if (length.value === 0) continue;
          const bytes = source.read(at, length.value);
          const where = group.value === REGISTRATIONS ? 'registration' : `key group ${group.value}`;
          const offset = source.base + at;
          at += length.value;
          if (group.value === REGISTRATIONS || bytes.length < 3)
            yield { offset, length: bytes.length, field: where, value: changeText(group.value, bytes) };
          else {
            yield { offset, length: 1, field: `${where}: operation`, value: `${bytes[0]} (${OPERATIONS[bytes[0]] ?? 'not known'})` };
            yield { offset: offset + 1, length: 2, field: `${where}: state`, value: String((bytes[1] << 8) | bytes[2]) };
            if (bytes.length > 3)
              yield { offset: offset + 3, length: bytes.length - 3, field: `${where}: payload`, value: hexText(bytes.subarray(3)) };
          }
        }
      }
    }
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    if (at < source.size) yield unreadable(source.base + at, source.size - at, error);
  }
}

export interface InspectedChannel {
  readonly handle: ChannelHandle;
  readonly context: StateContext;
  /** channels of other files lend the ends of their elements only */
  readonly own: boolean;
}

/** A channel state file: buffers with their lengths, elements as lines at the first buffer of their channel. */
export function* channelNotes(source: ByteSource, channels: readonly InspectedChannel[], budget: Budget): Generator<Note> {
  const { base } = source;
  if (source.size < 4) {
    if (source.size > 0)
      yield { offset: base, length: source.size, field: 'no channel state', value: hexText(source.read(0, source.size)) };
    return;
  }
  const own = channels.filter(c => c.own);
  const name = ({ handle, context }: InspectedChannel) =>
    `${context.where}, ${handle.direction} channel ${handle.gateOrPartition}/${handle.channelIndex}`;
  const lines = new Map<InspectedChannel, Note[]>();
  try {
    const opened = openChannels(channels);
    opened.forEach((reader, i) => {
      const channel = channels[i];
      const first = channel.handle.offsets[0];
      if (!channel.own || first === undefined) return;
      const notes: Note[] = [];
      lines.set(channel, notes);
      try {
        for (const element of reader.elements()) {
          if (budget.left === 0) break;
          budget.left--;
          const at = element.timestamp === undefined ? '' : ` at ${element.timestamp}`;
          const cut = element.complete ? '' : ' (cut)';
          const value = hexText(element.bytes.subarray(element.start, element.end));
          notes.push({ offset: base + first, length: 0, field: `${name(channel)}: ${element.kind}${cut}${at}`, value });
        }
      } catch (error) {
        if (!(error instanceof StateQueryError)) throw error;
        notes.push(unreadable(base + first, 0, error));
      }
    });
    for (const reader of opened) reader.close();
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
  }
  const chunks = own.flatMap(channel => channel.handle.offsets.map((at, i) => ({ at, i, channel }))).sort((a, b) => a.at - b.at);
  const notes = function* (): Generator<Note> {
    yield { offset: base, length: 4, field: 'version', value: String(Buffer.from(source.read(0, 4)).readInt32BE(0)) };
    let end = 4;
    for (const { at, i, channel } of chunks) {
      if (at < end || at + 4 > source.size) continue;
      const length = Buffer.from(source.read(at, 4)).readInt32BE(0);
      if (length < 0 || length > source.size - at - 4) continue;
      const field = `${name(channel)}: buffer ${i}`;
      yield { offset: base + at, length: 4, field: `${field}: length`, value: String(length) };
      if (length > 0) yield { offset: base + at + 4, length, field, value: hexText(source.read(at + 4, length)) };
      if (i === 0) yield* lines.get(channel) ?? [];
      end = at + 4 + length;
    }
  };
  yield* covered(notes(), base, base + source.size, (offset, length) => [
    { offset, length, field: 'not referred to', value: hexText(source.read(offset - base, Math.min(length, 65))) },
  ]);
}
