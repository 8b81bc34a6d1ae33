/**
 * What serializer snapshots tell of the Flink that wrote them: classes that came or went with a release. Evidence for
 * `flinkVersions`, besides that of `_metadata`.
 */
import type { VersionEvidence } from '../checkpoint/flink-versions.js';
import type { SerializerSnapshot } from '../serializers/codec.js';
import type { StateVariant } from './states.js';

interface Sign {
  readonly snapshotClass: RegExp;
  readonly least?: number;
  readonly since?: string;
  readonly until?: string;
}
const TABLE = 'org\\.apache\\.flink\\.table\\.runtime\\.';

/** Of each class the release that brought or took it. */
const SIGNS: readonly Sign[] = [
  { snapshotClass: new RegExp(`^${TABLE}typeutils\\.Base(Row|Array|Map)Serializer`), until: '1.10' },
  { snapshotClass: new RegExp(`^${TABLE}typeutils\\.(Row|Array|Map|String|Decimal|Timestamp)DataSerializer`), since: '1.11' },
  { snapshotClass: /^org\.apache\.flink\.cep\..*SharedBufferNodeSerializerSnapshotV2$/, since: '1.13' },
  { snapshotClass: /^org\.apache\.flink\.runtime\.state\.ttl\.TtlAwareSerializerSnapshot$/, since: '2.0' },
  { snapshotClass: /^org\.apache\.flink\.table\.api\.typeutils\./, since: '2.0' },
  { snapshotClass: /^org\.apache\.flink\.api\.scala\.typeutils\./, until: '1.20' },
  { snapshotClass: new RegExp(`^${TABLE}typeutils\\.RowDataKeySerializerSnapshot$`), since: '2.2' },
  { snapshotClass: new RegExp(`^${TABLE}sequencedmultisetstate\\.`), since: '2.2' },
  { snapshotClass: new RegExp(`^${TABLE}operators\\.sink\\.SortedLongSerializer`), since: '2.3' },
  { snapshotClass: new RegExp(`^${TABLE}typeutils\\.RowDataSerializer`), least: 4, since: '2.4' },
];

export function serializerEvidence(variants: Iterable<StateVariant>): VersionEvidence[] {
  const seen = new Map<string, SerializerSnapshot>();
  const visit = (snapshot: SerializerSnapshot | undefined): void => {
    if (snapshot === undefined) return;
    seen.set(`${snapshot.snapshotClass} ${snapshot.version}`, snapshot);
    for (const child of snapshot.children) visit(child.snapshot);
  };
  let asynchronous = false;
  for (const { registered, keySnapshot } of variants) {
    asynchronous ||= registered.v2;
    for (const snapshot of [keySnapshot, registered.key, registered.namespace, registered.userKey, registered.value]) visit(snapshot);
  }
  const evidence: VersionEvidence[] = asynchronous ? [{ since: '2.0', because: 'asynchronous state (KEY_VALUE_V2)' }] : [];
  for (const { snapshotClass, version } of seen.values())
    for (const { snapshotClass: pattern, least = 0, since, until } of SIGNS) {
      if (version < least || !pattern.test(snapshotClass)) continue;
      const name = snapshotClass.slice(snapshotClass.lastIndexOf('.') + 1);
      evidence.push({
        ...(since === undefined ? {} : { since }),
        ...(until === undefined ? {} : { until }),
        because: `serializer snapshot ${name}${least > 0 ? ` version ${version}` : ''}`,
      });
    }
  return evidence;
}
