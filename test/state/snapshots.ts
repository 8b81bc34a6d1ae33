/** Snapshots to read in tests: those of the repository, and the shared ones where they are. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SnapshotFiles } from '../../src/checkpoint/files.js';
import type { Metadata, Operator, Subtask } from '../../src/checkpoint/handles.js';
import { readMetadata } from '../../src/checkpoint/metadata.js';
import type { CodecContext } from '../../src/serializers/codec.js';
import type { StateContext } from '../../src/state/entry.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const FIXTURES = join(root, 'fixtures/snapshots');
export const SHARED = process.env['STATEQUERY_SHARED'] ?? join(root, '../shared');
export const hasShared = existsSync(join(SHARED, 'corpus'));

export interface Opened {
  readonly name: string;
  readonly directory: string;
  readonly metadata: Metadata;
  readonly files: SnapshotFiles;
  readonly warnings: string[];
  context(operator: Operator, subtask: Subtask): StateContext;
}

/** The `_metadata` files below a directory, at most four levels down. */
export function findMetadata(directory: string, depth = 4): string[] {
  if (!existsSync(directory)) return [];
  const own = join(directory, '_metadata');
  if (existsSync(own)) return [own];
  if (depth === 0) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter(e => e.isDirectory())
    .flatMap(e => findMetadata(join(directory, e.name), depth - 1))
    .sort();
}

export function openSnapshot(metadataPath: string, name = basename(dirname(metadataPath)), codecs: CodecContext = {}): Opened {
  const directory = dirname(metadataPath);
  const metadata = readMetadata(readFileSync(metadataPath), metadataPath);
  const files = new SnapshotFiles(directory, metadataPath);
  const warnings: string[] = [];
  const major = /(?:^|[-/])flink([12])\.|(?:^|[-/])([12])\.\d+-/.exec(metadataPath.slice(metadataPath.indexOf('snapshots')));
  const flinkMajor = major === null ? (metadata.version >= 5 ? 2 : 1) : (Number(major[1] ?? major[2]) as 1 | 2);
  return {
    name,
    directory,
    metadata,
    files,
    warnings,
    context: (operator, subtask) => ({
      open: stream => files.open(stream),
      maxParallelism: operator.maxParallelism,
      codecs: { flinkMajor, ...codecs },
      where: `operator ${operator.uid ?? operator.id}, subtask ${subtask.index}`,
      verify: true,
      warn: message => void warnings.push(message),
    }),
  };
}

export function* subtasks(opened: Opened): Generator<{ operator: Operator; subtask: Subtask; context: StateContext }> {
  for (const operator of opened.metadata.operators)
    for (const subtask of operator.subtasks) yield { operator, subtask, context: opened.context(operator, subtask) };
}
