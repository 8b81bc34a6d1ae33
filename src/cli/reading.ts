/** From reading options to an opened snapshot. */
import { parseRebase } from '../checkpoint/paths.js';
import { CorruptError, UsageError } from '../errors.js';
import type { ReadStats } from '../io/source.js';
import { openClassPool } from '../java/jar.js';
import type { Opening } from '../stateinfo/opening.js';
import type { NameSources } from '../stateinfo/sources.js';
import type { OpenedSnapshot, OpenOptions, TtlSetting } from '../tables/snapshot.js';
import { openWithWorkers } from '../workers/open.js';
import { nameSources } from './names.js';
import type { ReadingFlags } from './options.js';
import { parseProtoType, protoOptions } from './proto.js';
import type { Session } from './session.js';

/** The snapshot that the command line names, else STATEQUERY_SNAPSHOT. @throws UsageError */
export function snapshotPath(argument: string | undefined): string {
  const path = argument ?? process.env['STATEQUERY_SNAPSHOT'] ?? '';
  if (path !== '') return path;
  throw new UsageError('no snapshot is named', { hint: 'give the directory of a savepoint or checkpoint, or set STATEQUERY_SNAPSHOT' });
}

/** Opens a snapshot, runs `use` and closes it; the notes of the run come last. */
export async function withSnapshot(
  path: string | undefined,
  flags: ReadingFlags,
  session: Session,
  use: (snapshot: OpenedSnapshot) => void | Promise<void>,
): Promise<void> {
  const snapshot = await openWith(snapshotPath(path), flags, session);
  try {
    await use(snapshot);
    finishReading([snapshot], session);
  } finally {
    snapshot.close();
  }
}

/** What was passed over makes the run end with 5, after everything else was written. @throws CorruptError */
export function finishReading(snapshots: readonly OpenedSnapshot[], session: Session): void {
  session.finish(snapshots[0]?.stats);
  const damage = snapshots.flatMap(s => s.damage);
  if (damage.length === 0) return;
  const [first] = damage;
  throw new CorruptError(
    `${damage.length === 1 ? 'one thing was' : `${damage.length} things were`} passed over as damaged: ${first.message}`,
    {
      cause: first,
      ...(first.file === undefined ? {} : { file: first.file }),
      ...(first.offset === undefined ? {} : { offset: first.offset }),
      ...(first.where === undefined ? {} : { where: first.where }),
      hint: 'the rows above are what could be read; statequery verify lists all that is damaged',
    },
  );
}

/** Opens a snapshot with the reading options. @throws StateQueryError */
export async function openWith(
  path: string,
  flags: ReadingFlags,
  session: Session,
  stats?: ReadStats,
  more: NameSources = {},
): Promise<OpenedSnapshot> {
  const schemas = protoOptions(flags).proto?.schemas;
  return openWithWorkers(openingOf(path, flags, more), {
    warn: message => session.note(message),
    schemas,
    ...(stats === undefined ? {} : { stats }),
  });
}

/** What the reading options say of a snapshot. @throws UsageError */
function openingOf(path: string, flags: ReadingFlags, more: NameSources): Opening {
  const { jar, proto, protoType } = flags;
  return {
    path,
    ...plainOptions(flags),
    ...(jar.length === 0 ? {} : { jars: jar }),
    ...(proto.length === 0 ? {} : { proto: { files: proto, types: protoType.flatMap(parseProtoType) } }),
    names: { ...nameSources(flags), ...more },
  };
}

function plainOptions(flags: ReadingFlags) {
  return {
    rebase: flags.rebase.map(parseRebase),
    ttl: flags.ttl.flatMap(parseTtl),
    verify: flags.verify,
    skipDamaged: flags.skipDamaged === true,
    ...(flags.asOf === undefined ? {} : { asOfMillis: parseInstant(flags.asOf) }),
  };
}

/** The reading options as the library has them. @throws UsageError */
export function openOptions(flags: ReadingFlags, session: Session, stats?: ReadStats): OpenOptions {
  return {
    ...plainOptions(flags),
    warn: message => session.note(message),
    ...(flags.jar.length === 0 ? {} : { classes: openClassPool(flags.jar) }),
    ...protoOptions(flags),
    ...(stats === undefined ? {} : { stats }),
  };
}

/** `[operator.]state=DURATION`; a dot may belong to either name, so every reading of it counts. @throws UsageError */
export function parseTtl(text: string): readonly TtlSetting[] {
  const at = text.lastIndexOf('=');
  const name = text.slice(0, at);
  if (at < 1) throw new UsageError(`--ttl ${text}: expected state=duration`, { hint: '--ttl lastSeen=7d' });
  const millis = parseDuration(text.slice(at + 1));
  const settings: TtlSetting[] = [{ state: name, millis }];
  for (let dot = name.indexOf('.'); dot > 0 && dot < name.length - 1; dot = name.indexOf('.', dot + 1))
    settings.push({ operator: name.slice(0, dot), state: name.slice(dot + 1), millis });
  return settings;
}

const UNIT_MILLIS: readonly (readonly [pattern: RegExp, millis: number])[] = [
  [/^(ms|milli(s|seconds?)?)$/, 1],
  [/^(s|sec(s|onds?)?)$/, 1000],
  [/^(m|min(s|utes?)?)$/, 60_000],
  [/^(h|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
];

/** `7d`, `12 h`, `1 day`, `500ms` as Flink's configuration has them, or ISO 8601 (`PT30M`, `P7D`). @throws UsageError */
export function parseDuration(text: string): bigint {
  const plain = /^\s*(\d+)\s*([a-z]+)\s*$/i.exec(text);
  const unit = plain === null ? undefined : UNIT_MILLIS.find(([pattern]) => pattern.test(plain[2].toLowerCase()));
  if (plain !== null && unit !== undefined) return BigInt(plain[1]) * BigInt(unit[1]);
  const iso = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,3}))?S)?)?$/i.exec(text.trim());
  if (iso?.slice(1).some(part => part !== undefined)) {
    const [d, h, m, s] = iso.slice(1, 5).map(part => BigInt(part ?? 0));
    return ((d * 24n + h) * 60n + m) * 60_000n + s * 1000n + BigInt((iso[5] ?? '').padEnd(3, '0'));
  }
  throw new UsageError(`not a duration: ${text}`, { hint: 'such as 7d, 12h, 30min, 45s, 500ms, PT30M' });
}

/** ISO 8601 (UTC where no zone is given) or milliseconds since 1970. @throws UsageError */
export function parseInstant(text: string): bigint {
  if (/^-?\d{1,18}$/.test(text)) return BigInt(text);
  const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i.exec(text);
  const millis =
    iso === null
      ? Number.NaN
      : Date.parse(text.length > 10 && iso[1] === undefined ? `${text.replace(' ', 'T')}Z` : text.replace(' ', 'T'));
  if (Number.isNaN(millis))
    throw new UsageError(`not a time: ${text}`, { hint: 'such as 2026-01-31T12:00:00Z or milliseconds since 1970' });
  return BigInt(millis);
}
