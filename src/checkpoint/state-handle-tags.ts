/**
 * The tag byte in front of every state handle of `_metadata`. Three contexts share one numbering: which tags are legal, and what
 * follows, depends on where the handle stands.
 *
 * Flink: MetadataV2V3SerializerBase (tags read in 1.15.4, 1.17.2, 1.20.5 and 2.3.0).
 */

export type HandleContext = 'stream' | 'keyed' | 'operator';

export interface HandleTag {
  readonly tag: number;
  readonly contexts: readonly HandleContext[];
  /** simple name of Flink's class */
  readonly handleClass: string;
  /** first Flink release that wrote it, and the last one where it stopped */
  readonly since: string;
  readonly until?: string;
}

export const HANDLE_TAGS: readonly HandleTag[] = [
  { tag: 0, contexts: ['stream', 'keyed', 'operator'], handleClass: 'null', since: '1.2' },
  { tag: 1, contexts: ['stream'], handleClass: 'ByteStreamStateHandle', since: '1.2' },
  { tag: 2, contexts: ['stream'], handleClass: 'FileStateHandle', since: '1.2' },
  { tag: 3, contexts: ['keyed', 'stream'], handleClass: 'KeyGroupsStateHandle', since: '1.2', until: '1.14' },
  { tag: 4, contexts: ['operator'], handleClass: 'OperatorStreamStateHandle', since: '1.2' },
  { tag: 5, contexts: ['keyed'], handleClass: 'IncrementalRemoteKeyedStateHandle', since: '1.3', until: '1.14' },
  { tag: 6, contexts: ['stream'], handleClass: 'RelativeFileStateHandle', since: '1.11' },
  { tag: 7, contexts: ['keyed'], handleClass: 'KeyGroupsSavepointStateHandle', since: '1.13' },
  { tag: 8, contexts: ['keyed'], handleClass: 'ChangelogStateBackendHandle', since: '1.14', until: '1.15' },
  { tag: 9, contexts: ['keyed'], handleClass: 'InMemoryChangelogStateHandle', since: '1.14' },
  { tag: 10, contexts: ['keyed'], handleClass: 'ChangelogStateHandleStreamImpl', since: '1.14', until: '1.15' },
  { tag: 11, contexts: ['keyed'], handleClass: 'IncrementalRemoteKeyedStateHandle', since: '1.15' },
  { tag: 12, contexts: ['keyed'], handleClass: 'KeyGroupsStateHandle', since: '1.15' },
  { tag: 13, contexts: ['keyed'], handleClass: 'ChangelogStateHandleStreamImpl', since: '1.16' },
  { tag: 14, contexts: ['keyed'], handleClass: 'ChangelogStateBackendHandle', since: '1.16' },
  { tag: 15, contexts: ['stream'], handleClass: 'SegmentFileStateHandle', since: '1.20' },
  { tag: 16, contexts: ['stream'], handleClass: 'EmptySegmentFileStateHandle', since: '1.20' },
  { tag: 17, contexts: ['operator'], handleClass: 'FileMergingOperatorStreamStateHandle', since: '1.20' },
];

const CONTEXT_WORDS: Readonly<Record<HandleContext, string>> = {
  stream: 'a stream',
  keyed: 'keyed state',
  operator: 'operator state',
};

/** What is wrong with a tag that is not legal in its context. */
export function tagProblem(tag: number, context: HandleContext): string {
  const known = HANDLE_TAGS.find(t => t.tag === tag);
  const legal = HANDLE_TAGS.filter(t => t.contexts.includes(context)).map(t => t.tag);
  const found = known === undefined ? `unknown state handle tag ${tag}` : `state handle tag ${tag} (${known.handleClass})`;
  return `${found} where ${CONTEXT_WORDS[context]} is expected, one of ${legal.join(', ')}`;
}

/** The class of a tag, for tables and dumps. */
export function handleClassOf(tag: number): string {
  return HANDLE_TAGS.find(t => t.tag === tag)?.handleClass ?? `tag ${tag}`;
}
