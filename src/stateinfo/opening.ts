/**
 * How a snapshot is opened, as plain data: the path and what decides how it is read, everything else by the paths of its files. Who has
 * this value can open the same snapshot again: a worker thread does (workers/).
 */
import { openClassPool } from '../java/jar.js';
import { openProto, type ProtoSchemas } from '../proto/schema.js';
import { type OpenedSnapshot, type OpenOptions, openSnapshot, type ProtoSetting } from '../tables/snapshot.js';
import { gatherNames, type NameSources } from './sources.js';

export interface Opening extends Pick<OpenOptions, 'rebase' | 'ttl' | 'asOfMillis' | 'verify' | 'skipDamaged' | 'pushdown'> {
  readonly path: string;
  /** jars and directories of classes */
  readonly jars?: readonly string[];
  readonly proto?: { readonly files: readonly string[]; readonly types: readonly ProtoSetting[] };
  /** names from files, and those that lie beside the snapshot */
  readonly names?: NameSources;
}

/** What is the opener's own. */
export interface OpeningHooks extends Pick<OpenOptions, 'warn' | 'stats' | 'workers'> {
  /** the files of `proto`, when they were read already */
  readonly schemas?: ProtoSchemas | undefined;
}

/** Opens a snapshot. @throws StateQueryError */
export async function openAs(opening: Opening, hooks: OpeningHooks = {}): Promise<OpenedSnapshot> {
  const { path, jars = [], proto, names, ...plain } = opening;
  const { schemas, ...own } = hooks;
  const options: OpenOptions = {
    ...plain,
    ...own,
    ...(jars.length === 0 ? {} : { classes: openClassPool(jars) }),
    ...(proto === undefined ? {} : { proto: { schemas: schemas ?? (await openProto(proto.files)), types: proto.types } }),
  };
  return openSnapshot(path, { ...options, ...(await gatherNames(path, names ?? {}, options)) });
}
