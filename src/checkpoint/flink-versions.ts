/**
 * Which Flink wrote a snapshot. Nothing says so; the version of `_metadata`, the tags of its handles and the layouts of its entries
 * each leave a range of releases, and what a later layer knows of serializers narrows it.
 *
 * The ranges are those of the classes that write them: see `metadata.ts` and `state-handle-tags.ts`.
 */
import type { KeyedHandle, Metadata, StreamHandle } from './handles.js';
import { streamReferences } from './references.js';
import { HANDLE_TAGS, type HandleContext } from './state-handle-tags.js';

/** One fact and the releases it leaves. */
export interface VersionEvidence {
  /** first release that writes so, `1.15` */
  readonly since?: string;
  /** last release that writes so */
  readonly until?: string;
  readonly because: string;
}

export interface FlinkVersions {
  readonly since: string;
  /** undefined: the newest known release, or a later one */
  readonly until: string | undefined;
  /** `1.15`, `1.16–1.20`, `2.1 or later` */
  readonly text: string;
  /** what narrowed the range, the version of `_metadata` first */
  readonly evidence: readonly VersionEvidence[];
  /** true when two facts exclude each other: a tool rewrote the snapshot. The range is then that of `_metadata` alone */
  readonly contradictory: boolean;
}

const OF_METADATA: Readonly<Record<number, { readonly since: string; readonly until?: string }>> = {
  2: { since: '1.3', until: '1.10' },
  3: { since: '1.11', until: '1.15' },
  4: { since: '1.16', until: '1.20' },
  5: { since: '2.0', until: '2.1' },
  6: { since: '2.1' },
};

/** Orders `1.9` before `1.10` before `2.0`. */
export function compareFlinkVersions(a: string, b: string): number {
  const [aMajor, aMinor] = a.split('.').map(Number);
  const [bMajor, bMinor] = b.split('.').map(Number);
  return aMajor - bMajor || (aMinor ?? 0) - (bMinor ?? 0);
}

/** @param further evidence from serializer snapshots and state files */
export function flinkVersions(metadata: Metadata, further: readonly VersionEvidence[] = []): FlinkVersions {
  const base: VersionEvidence = { ...OF_METADATA[metadata.version], because: `_metadata version ${metadata.version}` };
  const all = [base, ...layoutEvidence(metadata), ...tagEvidence(metadata), ...further];
  let since = base.since ?? '1.3';
  let until = base.until;
  const evidence = [base];
  for (const fact of all.slice(1)) {
    const later = fact.since !== undefined && compareFlinkVersions(fact.since, since) > 0;
    const earlier = fact.until !== undefined && (until === undefined || compareFlinkVersions(fact.until, until) < 0);
    if (!later && !earlier) continue;
    if (later) since = fact.since as string;
    if (earlier) until = fact.until;
    evidence.push(fact);
  }
  const contradictory = until !== undefined && compareFlinkVersions(since, until) > 0;
  if (contradictory) {
    since = base.since ?? '1.3';
    until = base.until;
  }
  const text = until === undefined ? `${since} or later` : since === until ? since : `${since}–${until}`;
  return { since, until, text, evidence, contradictory };
}

function layoutEvidence(metadata: Metadata): VersionEvidence[] {
  const found: VersionEvidence[] = [];
  if (metadata.operators.some(o => o.fullyFinished || o.subtasks.some(s => s.finished)))
    found.push({ since: '1.14', because: 'finished operators or subtasks' });
  const { channels, changelog } = metadata.layout;
  if (channels === 'without-subtask') found.push({ until: '1.11', because: 'channel state without subtask index' });
  if (channels === 'with-subtask') found.push({ since: '1.12', because: 'channel state with subtask index' });
  if (changelog === '1.14') found.push({ until: '1.14', because: 'changelog handles without ids' });
  if (changelog === '1.15') found.push({ since: '1.15', because: 'changelog handles with ids' });
  if (metadata.operators.some(o => o.subtasks.some(s => s.legacy !== undefined)))
    found.push({ until: '1.3', because: 'legacy operator state' });
  return found;
}

function tagEvidence(metadata: Metadata): VersionEvidence[] {
  const seen = new Set<string>();
  const note = (context: HandleContext, tag: number): void => {
    seen.add(`${context} ${tag}`);
  };
  for (const operator of metadata.operators)
    for (const subtask of operator.subtasks) {
      for (const keyed of [subtask.managedKeyed, subtask.rawKeyed]) if (keyed !== undefined) noteKeyed(keyed, note);
      for (const handle of [subtask.managedOperator, subtask.rawOperator]) if (handle !== undefined) note('operator', handle.tag);
    }
  for (const { stream } of streamReferences(metadata)) note('stream', streamTag(stream));
  const found: VersionEvidence[] = [];
  for (const { tag, contexts, since, until, handleClass } of HANDLE_TAGS)
    for (const context of contexts) {
      // as a stream, tag 3 never stopped to be written
      if (!seen.has(`${context} ${tag}`)) continue;
      const last = context === 'stream' ? undefined : until;
      found.push({ since, ...(last === undefined ? {} : { until: last }), because: `state handle tag ${tag} (${handleClass})` });
    }
  return found;
}

function noteKeyed(handle: KeyedHandle, note: (context: HandleContext, tag: number) => void): void {
  note('keyed', handle.tag);
  if (handle.kind === 'changelog') for (const inner of [...handle.materialized, ...handle.nonMaterialized]) noteKeyed(inner, note);
}

/** The tag a stream handle was written with. */
export function streamTag(stream: StreamHandle): number {
  switch (stream.kind) {
    case 'inline':
      return 1;
    case 'file':
      return 2;
    case 'key-groups-stream':
      return 3;
    case 'relative':
      return 6;
    case 'segment':
      return 15;
    case 'empty-segment':
      return 16;
  }
}
