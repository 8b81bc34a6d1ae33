/**
 * Files that a sink is writing or has written and not yet shown: what its file system needs to go on or to commit.
 *
 *   in-progress v1   i32 B3A4073D · version+len+resumable           v2: i32 magic · bool [utf target path] · version+len+resumable
 *   pending v1       i32 2C853C89 · version+len+committable         v2: i32 magic · bool [utf target path] · i64 size · version+len+committable
 *   local, Hadoop    little-endian: i32 1E744B57 | D7436C5E · i64 offset · i32 len, i32 len · target · temporary file
 *   S3               little-endian: i32 98761432 · key · upload id · i32 n × (i32 part, etag) · i64 bytes in parts · object of the
 *                    last part (empty: none) · i64 its length; each text behind an i32 length
 *
 * Recoverables of other file systems stay bytes.
 * Flink: OutputStreamBasedPartFileWriter, LocalRecoverableSerializer, HadoopRecoverableSerializer, S3RecoverableSerializer (1.12–2.3).
 */
import { Cursor } from '../io/cursor.js';
import {
  checkName,
  readLengthLe,
  readName,
  readOptional,
  readUtf8,
  readUtf8Le,
  readVersioned,
  readWhole,
  type Versioned,
} from './bytes.js';
import type { DetailsObject } from './details.js';

export interface Recoverable {
  /** the file as users know it */
  readonly path: string | null;
  readonly details: DetailsObject;
}

/** A resumable or committable of a file system. */
export function decodeFileSystemRecoverable({ version, bytes }: Versioned): Recoverable {
  const magic = bytes.length < 4 ? 0 : new Cursor(bytes).u32le();
  if (version === 1 && (magic === 0x1e744b57 || magic === 0xd7436c5e))
    return readWhole(bytes, 'recoverable', c => {
      c.take(4);
      const offset = c.i64le();
      const target = readLengthLe(c, 'length of the target');
      const temp = readLengthLe(c, 'length of the temporary file');
      const path = checkName(c, readUtf8(c, target, 'target'), 'target');
      const temporary = readUtf8(c, temp, 'temporary file');
      return { path, details: { file_system: magic === 0x1e744b57 ? 'local' : 'hadoop', offset, target: path, temporary_file: temporary } };
    });
  if (version === 1 && magic === 0x98761432)
    return readWhole(bytes, 'recoverable', c => {
      c.take(4);
      const key = checkName(c, readUtf8Le(c, 'key'), 'key');
      const upload = readUtf8Le(c, 'upload id');
      const parts = [];
      for (let n = readLengthLe(c, 'number of parts', 8); n > 0; n--) parts.push({ part_number: c.i32le(), etag: readUtf8Le(c, 'etag') });
      const details = {
        file_system: 's3',
        key,
        upload_id: upload,
        parts,
        bytes_in_parts: c.i64le(),
        incomplete_object: readUtf8Le(c, 'incomplete object') || null,
        incomplete_object_length: c.i64le(),
      };
      return { path: key, details };
    });
  return { path: null, details: { serializer_version: version, $hex: bytes } };
}

const IN_PROGRESS = 0xb3a4073d;
const PENDING = 0x2c853c89;

/** OutputStreamBasedInProgressFileRecoverable */
export function decodeInProgress(versioned: Versioned): Recoverable {
  return decodeFile(versioned, IN_PROGRESS);
}
/** OutputStreamBasedPendingFileRecoverable */
export function decodePending(versioned: Versioned): Recoverable {
  return decodeFile(versioned, PENDING);
}

function decodeFile({ version, bytes }: Versioned, expected: number): Recoverable {
  return readWhole(bytes, 'file', c => {
    const magic = c.u32();
    if (magic !== expected) c.fail(`file begins with ${magic.toString(16)}, expected ${expected.toString(16)}`, 0);
    if (version !== 1 && version !== 2) c.fail(`file of version ${version}`);
    const path = version === 1 ? null : readOptional(c, () => readName(c, 'path'));
    const size = version === 2 && expected === PENDING ? c.i64() : undefined;
    const inner = decodeFileSystemRecoverable(readVersioned(c, 'recoverable'));
    return {
      path: path ?? inner.path,
      details: {
        ...(version === 1 ? {} : { path }),
        ...(size === undefined ? {} : { size: size < 0n ? null : size }),
        recoverable: inner.details,
      },
    };
  });
}

/** version+len: little-endian i32 length, UTF-8. SimpleVersionedStringSerializer v1. */
export function readVersionedString(c: Cursor, what: string): string {
  const { version, bytes } = readVersioned(c, what);
  if (version !== 1) c.fail(`${what} of version ${version}`);
  return readWhole(bytes, what, x => readUtf8Le(x, what));
}
