/**
 * ForSt (Flink 2.0+): RocksDB 8.10 with a file system of its own under it. Its snapshots have RocksDB's files behind the same
 * handle, so rocksdb.ts reads them; nothing in the handle says which of the two wrote it.
 *
 *   shown by                                                                     written by
 *   states of kind KEY_VALUE_V2                                                  the asynchronous state backend
 *   a file under …__attempt_<n>/db/: the running database itself is referenced   its remote working directory
 *   OPTIONS: db_log_dir=…__attempt_<n>/db                                        its local working directory
 *
 * RocksDB's working directories end in `…__<subtask>_<parallelism>__uuid_<id>/db`.
 * Flink: ForStKeyedStateBackendBuilder, ForStPathContainer, ForStStateBackend (2.3).
 */
import type { IncrementalHandle, LocalFile } from '../checkpoint/handles.js';
import type { KeyedHeader, StateContext } from './entry.js';

const WORKING_DIRECTORY = /__attempt_\d+\/db\//;
const LOG_DIRECTORY = /^\s*db_log_dir=.*__attempt_\d+\/db\s*$/m;
/** db_log_dir stands in the first of several sections */
const OPTIONS_HEAD = 8 << 10;

/** Which of the two backends wrote an instance. RocksDB when nothing tells. */
export function instanceBackend(handle: IncrementalHandle, header: KeyedHeader, context: StateContext): 'rocksdb' | 'forst' {
  if (header.states.some(state => state.v2)) return 'forst';
  if (context.codecs.flinkMajor === 1) return 'rocksdb';
  const files = [...handle.shared, ...handle.private];
  if (files.some(file => WORKING_DIRECTORY.test(pathOf(file)))) return 'forst';
  const options = files.find(file => /^OPTIONS-\d+$/.test(file.localName));
  return options !== undefined && LOG_DIRECTORY.test(headOf(options, context)) ? 'forst' : 'rocksdb';
}

function pathOf(file: LocalFile): string {
  return 'path' in file.stream ? file.stream.path : '';
}

/** An OPTIONS file is not needed to read state: a missing one is no error here. */
function headOf(file: LocalFile, context: StateContext): string {
  try {
    const source = context.open(file.stream);
    try {
      return Buffer.from(source.read(0, Math.min(OPTIONS_HEAD, source.size))).toString('utf8');
    } finally {
      source.close();
    }
  } catch {
    return '';
  }
}
