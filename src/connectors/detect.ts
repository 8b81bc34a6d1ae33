/**
 * Which connector an operator's bytes are of. They carry no class name: a format is right when it alone reads all of them to
 * their last byte, with versions it knows and with values that make sense. Two that fit are told apart by the operator's name;
 * where that does not help either, nothing is said. So is what holds nothing but a few zeros, unless the name speaks for it.
 */
import { StateQueryError } from '../errors.js';
import { readWhole, type Versioned } from './bytes.js';
import type { DetailsObject } from './details.js';
import { type Enumerator, type SinkFormat, type SinkItem, type SourceFormat, type Split, within } from './format.js';
import { SINKS, SOURCES } from './formats.js';
import { HYBRID_SOURCE } from './hybrid.js';

export interface SourceEvidence {
  readonly splits: readonly Versioned[];
  readonly enumerator: Versioned | undefined;
  /** uid and name of the operator */
  readonly names: readonly string[];
}
export interface DecodedSource {
  readonly connector: string;
  /** undefined: the splits are of no version that is known */
  readonly splits: readonly Split[] | undefined;
  readonly enumerator: Enumerator | undefined;
}

interface Candidate {
  readonly format: SourceFormat;
  readonly splits: readonly Split[] | undefined;
  readonly enumerator: Enumerator | undefined;
}

/** Reads the splits and the enumerator of a source; undefined when nothing, or more than one thing, fits. */
export function decodeSource(evidence: SourceEvidence): DecodedSource | undefined {
  const candidate = choose(evidence, SOURCES);
  if (candidate === undefined) return undefined;
  return candidate.format === HYBRID_SOURCE ? unwrap(candidate, evidence.names) : named(candidate);
}

function choose(evidence: SourceEvidence, formats: readonly SourceFormat[]): Candidate | undefined {
  const candidates = formats.map(format => tryFormat(format, evidence));
  const hasSplits = evidence.splits.length > 0;
  const hasEnumerator = evidence.enumerator !== undefined;
  const levels = [
    candidates.filter(x => (!hasSplits || x.splits !== undefined) && (!hasEnumerator || x.enumerator !== undefined)),
    // a version of one half that is not known yet
    hasSplits ? candidates.filter(x => x.splits !== undefined) : [],
    hasEnumerator ? candidates.filter(x => (x.enumerator?.splits.length ?? 0) > 0) : [],
  ];
  if (!hasSplits && !hasEnumerator) return undefined;
  const fitting = levels.find(level => level.length > 0) ?? [];
  const hinted = fitting.filter(x => evidence.names.some(name => x.format.hint.test(name)));
  if (hinted.length === 1) return hinted[0];
  return fitting.length === 1 && speaks(fitting[0], evidence) ? fitting[0] : undefined;
}

/** Whether there is anything in it that another format would not have had too. */
function speaks({ splits, enumerator }: Candidate, evidence: SourceEvidence): boolean {
  if ((splits?.length ?? 0) > 0 || (enumerator?.splits.length ?? 0) > 0) return true;
  return (evidence.enumerator?.bytes.length ?? 0) >= 16;
}

function tryFormat(format: SourceFormat, { splits, enumerator }: SourceEvidence): Candidate {
  return {
    format,
    splits: attempt(() =>
      splits.map(({ version, bytes }) => {
        if (!within(version, format.splitVersions)) throw new NoMatch();
        return readWhole(bytes, 'split', c => format.readSplit(c, version));
      }),
    ),
    enumerator: attempt(() => {
      if (enumerator === undefined || !within(enumerator.version, format.enumeratorVersions)) throw new NoMatch();
      return readWhole(enumerator.bytes, 'enumerator', c => format.readEnumerator(c, enumerator.version));
    }),
  };
}

class NoMatch extends Error {}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof StateQueryError || error instanceof NoMatch) return undefined;
    throw error;
  }
}

/** A common base of several connectors: what its splits say of themselves. */
function named({ format, splits, enumerator }: Candidate): DecodedSource {
  const said = new Set<string>();
  for (const split of splits ?? []) if (typeof split.connector === 'string') said.add(split.connector);
  for (const { split } of enumerator?.splits ?? []) if (typeof split.connector === 'string') said.add(split.connector);
  if (enumerator?.connector !== undefined) said.add(enumerator.connector);
  return { connector: said.size === 1 ? [...said][0] : format.connector, splits, enumerator };
}

/** HybridSource: the splits of each source in it are looked at together. */
function unwrap({ format, splits, enumerator }: Candidate, names: readonly string[]): DecodedSource {
  const inner = SOURCES.filter(s => s !== HYBRID_SOURCE);
  const sources = new Set((splits ?? []).map(s => s.wrapped?.source));
  if (enumerator?.wrapped !== undefined) sources.add(enumerator.wrapped.source);
  const found = [...(splits ?? [])];
  let held = enumerator;
  for (const source of sources) {
    const members = found.flatMap(({ wrapped }, i) => (wrapped !== undefined && wrapped.source === source ? [{ i, wrapped }] : []));
    const whole = enumerator?.wrapped;
    const wrappedEnumerator = whole !== undefined && whole.source === source ? whole : undefined;
    const candidate = choose({ splits: members.map(m => m.wrapped), enumerator: wrappedEnumerator, names }, inner);
    if (candidate === undefined) continue;
    const { connector, splits: decoded, enumerator: decodedEnumerator } = named(candidate);
    const wrap = (split: Split, version: number, bytes?: Uint8Array): Split => ({
      ...split,
      connector,
      details: {
        source_index: source ?? 0,
        split_id: split.splitId,
        wrapped_serializer_version: version,
        wrapped_hex: bytes,
        wrapped: split.details,
      },
    });
    decoded?.forEach((split, n) => {
      const { i, wrapped } = members[n];
      found[i] = { ...wrap(split, wrapped.version, wrapped.bytes), splitId: found[i].splitId };
    });
    if (decodedEnumerator !== undefined && wrappedEnumerator !== undefined) {
      const facts: DetailsObject = {
        current_source_index: wrappedEnumerator.source,
        wrapped_serializer_version: wrappedEnumerator.version,
        ...(decodedEnumerator.facts === undefined ? {} : { wrapped: decodedEnumerator.facts }),
      };
      held = {
        splits: decodedEnumerator.splits.map(({ holder, split }) => ({ holder, split: wrap(split, wrappedEnumerator.version) })),
        facts,
      };
    }
  }
  return { connector: format.connector, splits: splits === undefined ? undefined : found, enumerator: held };
}

export interface DecodedSink<T> {
  readonly connector: string;
  readonly items: readonly T[];
}

/** Reads all committables of a committer, one item each. */
export function decodeCommittables(entries: readonly Versioned[], names: readonly string[]): DecodedSink<SinkItem> | undefined {
  return chooseSink(entries, names, SINKS, 'committable', format => {
    const { committable } = format;
    if (committable === undefined) throw new NoMatch();
    return entries.map(({ version, bytes }) => {
      if (!within(version, committable.versions)) throw new NoMatch();
      return readWhole(bytes, 'committable', c => committable.read(c, version));
    });
  });
}

/** Reads all states of a sink's writers: the items of each. */
export function decodeWriterStates(entries: readonly Versioned[], names: readonly string[]): DecodedSink<readonly SinkItem[]> | undefined {
  return chooseSink(entries, names, SINKS, 'writer', format => {
    const { writer } = format;
    if (writer === undefined) throw new NoMatch();
    return entries.map(({ version, bytes }) => {
      if (!within(version, writer.versions)) throw new NoMatch();
      return readWhole(bytes, 'writer state', c => writer.read(c, version));
    });
  });
}

function chooseSink<T>(
  entries: readonly Versioned[],
  names: readonly string[],
  formats: readonly SinkFormat[],
  part: 'writer' | 'committable',
  read: (format: SinkFormat) => readonly T[],
): DecodedSink<T> | undefined {
  if (entries.length === 0) return undefined;
  const fitting = formats.flatMap(format => {
    const items = attempt(() => read(format));
    return items === undefined ? [] : [{ format, items }];
  });
  const hinted = fitting.filter(x => names.some(name => x.format.hint.test(name)));
  const one = hinted.length === 1 ? hinted[0] : fitting.length === 1 ? fitting[0] : undefined;
  if (one === undefined) return undefined;
  if (hinted.length !== 1 && one.format.weak?.(part, entries) === true) return undefined;
  return { connector: one.format.connector, items: one.items };
}
