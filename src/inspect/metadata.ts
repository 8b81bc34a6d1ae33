/** `_metadata` as notes: each field with the operator, subtask and handle that it stands in. */
import { readMetadata, readMetadataVersion } from '../checkpoint/metadata.js';
import { readProperties } from '../checkpoint/properties.js';
import { StateQueryError } from '../errors.js';
import type { ByteSource } from '../io/source.js';
import { covered, hexText, type Note, RecordingCursor, unreadable } from './notes.js';

export function* metadataNotes(source: ByteSource): Generator<Note> {
  const bytes = source.read(0, source.size);
  const version = readMetadataVersion(bytes, source.name);
  yield { offset: 0, length: 4, field: 'magic', value: '4960672d' };
  yield { offset: 4, length: 4, field: 'version', value: String(version) };
  let recorder: RecordingCursor | undefined;
  let failed: StateQueryError | undefined;
  let properties: Note | undefined;
  try {
    const metadata = readMetadata(bytes, source.name, (all, name, place) => {
      recorder = new RecordingCursor(all, 8, all.length, { file: name }, 0, place);
      return recorder;
    });
    if (metadata.properties !== undefined) {
      const { offset } = metadata.properties;
      const told = readProperties(metadata, source.name);
      properties = {
        offset,
        length: bytes.length - offset,
        field: 'checkpoint properties (Java stream)',
        value: JSON.stringify(told ?? null),
      };
    }
  } catch (error) {
    if (!(error instanceof StateQueryError)) throw error;
    failed = error;
  }
  const end = properties?.offset ?? bytes.length;
  const fields = (recorder?.notes() ?? []).filter(note => note.offset + note.length <= end);
  yield* covered([...fields, ...(properties === undefined ? [] : [properties])], 8, bytes.length, (offset, length) => [
    failed === undefined
      ? { offset, length, field: 'not interpreted', value: hexText(bytes.subarray(offset, offset + length)) }
      : unreadable(offset, length, failed),
  ]);
}
