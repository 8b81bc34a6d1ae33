/**
 * Classes that need no jar: what of the JDK, Scala, Flink and its connectors matters to Kryo.
 *
 *   layouts    `Class [< Superclass]: field type, field type …` — instance fields that are not transient, own ones only
 *   kinds      which of Kryo's default serializers a class gets: collections and maps by their base
 *   finals     final classes, besides those with `!` in the layouts: a field of such a type has no class tag
 *   enums      constants in the order of their ordinals
 *
 * JDK 8 to 21, Scala 2.12, Flink 1.20, flink-connector-kafka 3.4, flink-connector-kinesis 4.3, Joda 2.12.
 */

export interface KnownField {
  readonly name: string;
  /** Java name of the declared class: `int`, `java.lang.Object`, `[Ljava.lang.Object;` */
  readonly type: string;
}
export interface KnownLayout {
  readonly superName: string;
  readonly isFinal: boolean;
  readonly fields: readonly KnownField[];
}

const OBJECT = 'java.lang.Object';
/** Short names in the tables below. */
const SHORT: Readonly<Record<string, string>> = {
  Object: OBJECT,
  String: 'java.lang.String',
  Comparator: 'java.util.Comparator',
  'Object[]': '[Ljava.lang.Object;',
  'int[]': '[I',
  'long[]': '[J',
  'byte[]': '[B',
};

const LAYOUTS = `
java.time.Instant!: seconds long, nanos int
java.time.LocalDate!: year int, month short, day short
java.time.LocalTime!: hour byte, minute byte, second byte, nano int
java.time.LocalDateTime!: date java.time.LocalDate, time java.time.LocalTime
java.time.OffsetDateTime!: dateTime java.time.LocalDateTime, offset java.time.ZoneOffset
java.time.OffsetTime!: time java.time.LocalTime, offset java.time.ZoneOffset
java.time.ZonedDateTime!: dateTime java.time.LocalDateTime, offset java.time.ZoneOffset, zone java.time.ZoneId
java.time.ZoneOffset! < java.time.ZoneId: totalSeconds int
java.time.ZoneRegion! < java.time.ZoneId: id String
java.time.Duration!: seconds long, nanos int
java.time.Period!: years int, months int, days int
java.time.Year!: year int
java.time.YearMonth!: year int, month int
java.time.MonthDay!: month int, day int
java.util.Optional!: value Object
java.util.OptionalInt!: isPresent boolean, value int
java.util.OptionalLong!: isPresent boolean, value long
java.util.OptionalDouble!: isPresent boolean, value double
java.util.concurrent.atomic.AtomicInteger: value int
java.util.concurrent.atomic.AtomicLong: value long
java.util.concurrent.atomic.AtomicBoolean: value int
java.util.concurrent.atomic.AtomicReference: value Object
java.util.concurrent.atomic.AtomicIntegerArray: array int[]
java.util.concurrent.atomic.AtomicLongArray: array long[]
java.net.URL!: protocol String, host String, port int, file String, authority String, ref String, hashCode int
java.io.File: path String
java.math.MathContext!: precision int, roundingMode java.math.RoundingMode
java.util.AbstractMap$SimpleEntry: key Object, value Object
java.util.AbstractMap$SimpleImmutableEntry: key Object, value Object
java.util.KeyValueHolder!: key Object, value Object
java.util.Random: seed java.util.concurrent.atomic.AtomicLong, nextNextGaussian double, haveNextNextGaussian boolean
java.util.LongSummaryStatistics: count long, sum long, min long, max long
java.util.IntSummaryStatistics: count long, sum long, min int, max int
java.util.DoubleSummaryStatistics: count long, sum double, sumCompensation double, simpleSum double, min double, max double
java.util.Collections$ReverseComparator:
java.util.Collections$ReverseComparator2: cmp Comparator
java.util.Comparators$NullComparator!: nullFirst boolean, real Comparator
java.lang.String$CaseInsensitiveComparator:
scala.collection.immutable.Range: start int, end int, step int, isEmpty boolean, scala$collection$immutable$Range$$numRangeElements int, scala$collection$immutable$Range$$lastElement int
scala.collection.immutable.Range$Inclusive! < scala.collection.immutable.Range:
scala.math.BigDecimal!: bigDecimal java.math.BigDecimal, mc java.math.MathContext, computedHashCode int
scala.math.BigInt!: bigInteger java.math.BigInteger
scala.Some!: value Object
scala.util.Success!: value Object
scala.util.Failure!: exception java.lang.Throwable
scala.util.Left!: value Object
scala.util.Right!: value Object
scala.concurrent.duration.FiniteDuration!: length long, unit java.util.concurrent.TimeUnit
scala.collection.mutable.StringBuilder!: underlying java.lang.StringBuilder
scala.collection.convert.Wrappers$SeqWrapper: underlying scala.collection.Seq, $outer scala.collection.convert.Wrappers
scala.collection.convert.Wrappers$MapWrapper: scala$collection$convert$Wrappers$MapWrapper$$underlying scala.collection.Map, $outer scala.collection.convert.Wrappers
scala.collection.convert.Wrappers$JListWrapper: underlying java.util.List, $outer scala.collection.convert.Wrappers
scala.collection.convert.Wrappers$JMapWrapper: underlying java.util.Map, $outer scala.collection.convert.Wrappers
scala.math.Ordering$$anon$4!: $outer scala.math.Ordering
org.apache.flink.core.fs.Path: uri java.net.URI
org.apache.flink.types.Row!: kind org.apache.flink.types.RowKind, fieldByPosition Object[], fieldByName java.util.Map, positionByName java.util.LinkedHashMap
org.apache.flink.types.Either$Left: value Object, right org.apache.flink.types.Either$Right
org.apache.flink.types.Either$Right: value Object, left org.apache.flink.types.Either$Left
org.apache.flink.types.BooleanValue: value boolean
org.apache.flink.types.ByteValue: value byte
org.apache.flink.types.ShortValue: value short
org.apache.flink.types.IntValue: value int
org.apache.flink.types.LongValue: value long
org.apache.flink.types.FloatValue: value float
org.apache.flink.types.DoubleValue: value double
org.apache.flink.types.CharValue: value char
org.apache.flink.streaming.api.windowing.windows.TimeWindow: start long, end long
org.apache.flink.streaming.api.windowing.windows.GlobalWindow:
org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition!: topic String, partition int, cachedHash int
org.apache.flink.streaming.connectors.kinesis.model.SequenceNumber: sequenceNumber String, subSequenceNumber long, cachedHash int
org.apache.flink.streaming.connectors.kinesis.model.StreamShardMetadata: streamName String, shardId String, parentShardId String, adjacentParentShardId String, startingHashKey String, endingHashKey String, startingSequenceNumber String, endingSequenceNumber String
org.apache.avro.generic.GenericData$Record: schema org.apache.avro.Schema, values Object[]
org.apache.avro.generic.GenericData$EnumSymbol: schema org.apache.avro.Schema, symbol String
org.apache.avro.generic.GenericData$Fixed: schema org.apache.avro.Schema, bytes byte[]
org.apache.avro.util.Utf8: bytes byte[], hash int, length int, string String
org.joda.time.base.BaseDateTime < org.joda.time.base.AbstractDateTime: iMillis long, iChronology org.joda.time.Chronology
org.joda.time.DateTime! < org.joda.time.base.BaseDateTime:
org.joda.time.MutableDateTime < org.joda.time.base.BaseDateTime: iRoundingField org.joda.time.DateTimeField, iRoundingMode int
org.joda.time.Instant!: iMillis long
org.joda.time.LocalDate!: iLocalMillis long, iChronology org.joda.time.Chronology
org.joda.time.LocalDateTime!: iLocalMillis long, iChronology org.joda.time.Chronology
org.joda.time.LocalTime!: iLocalMillis long, iChronology org.joda.time.Chronology
org.joda.time.base.BaseDuration: iMillis long
org.joda.time.Duration! < org.joda.time.base.BaseDuration:
org.joda.time.chrono.AssembledChronology: iBase org.joda.time.Chronology, iParam Object
org.joda.time.chrono.BasicChronology < org.joda.time.chrono.AssembledChronology: iMinDaysInFirstWeek int
org.joda.time.chrono.ISOChronology! < org.joda.time.chrono.AssembledChronology:
org.joda.time.chrono.BasicGJChronology < org.joda.time.chrono.BasicChronology:
org.joda.time.chrono.GregorianChronology! < org.joda.time.chrono.BasicGJChronology:
org.joda.time.chrono.ZonedChronology! < org.joda.time.chrono.AssembledChronology:
org.joda.time.DateTimeZone: iID String
org.joda.time.UTCDateTimeZone! < org.joda.time.DateTimeZone:
org.joda.time.tz.FixedDateTimeZone! < org.joda.time.DateTimeZone: iNameKey String, iWallOffset int, iStandardOffset int
org.joda.time.tz.CachedDateTimeZone! < org.joda.time.DateTimeZone: iZone org.joda.time.DateTimeZone
`;

const layouts = new Map<string, KnownLayout>();
for (const line of LAYOUTS.trim().split('\n')) {
  const colon = line.indexOf(':');
  const [head, superName = OBJECT] = line.slice(0, colon).split(' < ');
  const fields = line
    .slice(colon + 1)
    .split(',')
    .map(f => f.trim().split(' '))
    .filter(f => f.length === 2)
    .map(([name, type]) => ({ name, type: SHORT[type] ?? type }));
  layouts.set(head.replace('!', ''), { superName, isFinal: head.endsWith('!'), fields });
}
for (let n = 0; n <= 25; n++) {
  const fields = Array.from({ length: n }, (_, i) => ({ name: `f${i}`, type: OBJECT }));
  layouts.set(`org.apache.flink.api.java.tuple.Tuple${n}`, { superName: OBJECT, isFinal: false, fields });
}

/** The layout of a class that is known without a jar. */
export function knownLayout(name: string): KnownLayout | undefined {
  return layouts.get(name);
}

const FINALS = new Set(
  (
    'java.lang.String java.lang.Integer java.lang.Long java.lang.Short java.lang.Byte java.lang.Character java.lang.Boolean ' +
    'java.lang.Float java.lang.Double java.lang.Void java.lang.Class java.lang.StringBuilder java.lang.StringBuffer java.lang.Math ' +
    'java.lang.StackTraceElement java.util.UUID java.util.Locale java.util.Currency java.util.regex.Pattern java.util.Base64 ' +
    'java.net.URI java.net.Inet4Address java.net.Inet6Address java.text.Annotation java.util.Scanner java.util.Formatter ' +
    'java.util.concurrent.ConcurrentHashMap$KeySetView java.util.OptionalInt java.io.FileDescriptor java.util.StringJoiner ' +
    'scala.Symbol scala.collection.immutable.Vector scala.collection.immutable.$colon$colon scala.collection.immutable.Stream$Cons ' +
    'scala.collection.immutable.StringOps scala.collection.immutable.TreeMap scala.collection.immutable.TreeSet ' +
    'scala.collection.immutable.WrappedString scala.collection.mutable.AnyRefMap scala.collection.mutable.ListBuffer ' +
    'scala.collection.mutable.LongMap scala.runtime.BoxedUnit org.apache.avro.Schema$Field$Order org.apache.avro.Schema$Type'
  ).split(' '),
);

export const PRIMITIVES: ReadonlySet<string> = new Set(['int', 'long', 'short', 'byte', 'char', 'boolean', 'float', 'double', 'void']);

const JDK_ENUMS: ReadonlyMap<string, readonly string[]> = new Map(
  `java.math.RoundingMode UP DOWN CEILING FLOOR HALF_UP HALF_DOWN HALF_EVEN UNNECESSARY
java.time.DayOfWeek MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY SUNDAY
java.time.Month JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER
java.time.chrono.IsoEra BCE CE
java.time.format.FormatStyle FULL LONG MEDIUM SHORT
java.time.format.ResolverStyle STRICT SMART LENIENT
java.time.format.TextStyle FULL FULL_STANDALONE SHORT SHORT_STANDALONE NARROW NARROW_STANDALONE
java.time.temporal.ChronoUnit NANOS MICROS MILLIS SECONDS MINUTES HOURS HALF_DAYS DAYS WEEKS MONTHS YEARS DECADES CENTURIES MILLENNIA ERAS FOREVER
java.time.temporal.ChronoField NANO_OF_SECOND NANO_OF_DAY MICRO_OF_SECOND MICRO_OF_DAY MILLI_OF_SECOND MILLI_OF_DAY SECOND_OF_MINUTE SECOND_OF_DAY MINUTE_OF_HOUR MINUTE_OF_DAY HOUR_OF_AMPM CLOCK_HOUR_OF_AMPM HOUR_OF_DAY CLOCK_HOUR_OF_DAY AMPM_OF_DAY DAY_OF_WEEK ALIGNED_DAY_OF_WEEK_IN_MONTH ALIGNED_DAY_OF_WEEK_IN_YEAR DAY_OF_MONTH DAY_OF_YEAR EPOCH_DAY ALIGNED_WEEK_OF_MONTH ALIGNED_WEEK_OF_YEAR MONTH_OF_YEAR PROLEPTIC_MONTH YEAR_OF_ERA YEAR ERA INSTANT_SECONDS OFFSET_SECONDS
java.util.concurrent.TimeUnit NANOSECONDS MICROSECONDS MILLISECONDS SECONDS MINUTES HOURS DAYS
java.lang.Thread$State NEW RUNNABLE BLOCKED WAITING TIMED_WAITING TERMINATED
java.lang.annotation.RetentionPolicy SOURCE CLASS RUNTIME
java.net.Proxy$Type DIRECT HTTP SOCKS
java.net.StandardProtocolFamily INET INET6 UNIX
java.nio.file.AccessMode READ WRITE EXECUTE
java.nio.file.LinkOption NOFOLLOW_LINKS
java.nio.file.StandardCopyOption REPLACE_EXISTING COPY_ATTRIBUTES ATOMIC_MOVE
java.nio.file.StandardOpenOption READ WRITE APPEND TRUNCATE_EXISTING CREATE CREATE_NEW DELETE_ON_CLOSE SPARSE SYNC DSYNC
java.nio.file.attribute.PosixFilePermission OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_WRITE GROUP_EXECUTE OTHERS_READ OTHERS_WRITE OTHERS_EXECUTE
java.sql.JDBCType BIT TINYINT SMALLINT INTEGER BIGINT FLOAT REAL DOUBLE NUMERIC DECIMAL CHAR VARCHAR LONGVARCHAR DATE TIME TIMESTAMP BINARY VARBINARY LONGVARBINARY NULL OTHER JAVA_OBJECT DISTINCT STRUCT ARRAY BLOB CLOB REF DATALINK BOOLEAN ROWID NCHAR NVARCHAR LONGNVARCHAR NCLOB SQLXML REF_CURSOR TIME_WITH_TIMEZONE TIMESTAMP_WITH_TIMEZONE
java.text.Normalizer$Form NFD NFC NFKD NFKC
java.util.Comparators$NaturalOrderComparator INSTANCE
org.apache.flink.types.RowKind INSERT UPDATE_BEFORE UPDATE_AFTER DELETE
org.apache.flink.streaming.api.TimeCharacteristic ProcessingTime IngestionTime EventTime`
    .split('\n')
    .map(line => line.split(' '))
    .map(([name, ...constants]) => [name, constants] as const),
);
/** Enums whose constants have bodies of their own are not final. */
const OPEN_ENUMS = new Set(['java.nio.file.attribute.AclEntryPermission']);

/** Constants of an enum of the JDK or Flink, by ordinal. */
export function knownEnum(name: string): readonly string[] | undefined {
  return JDK_ENUMS.get(name);
}

/** true or false for classes that are known; undefined: look into the jar. */
export function knownFinal(name: string): boolean | undefined {
  if (PRIMITIVES.has(name) || FINALS.has(name)) return true;
  const layout = layouts.get(name);
  if (layout !== undefined) return layout.isFinal;
  if (JDK_ENUMS.has(name)) return !OPEN_ENUMS.has(name);
  if (/^scala\.Tuple([3-9]|1\d|2[0-2])$/.test(name) || /^scala\.[\w.]*\$$/.test(name)) return true;
  // what is final of public classes stands above, as far as a field may be of that type
  return isPlatform(name) || /^(scala|org\.joda\.time|org\.apache\.avro)\./.test(name) ? false : undefined;
}

/** Classes of the platform: no jar of the user's has them. */
export function isPlatform(name: string): boolean {
  return /^(java|javax|jdk|sun)\./.test(name);
}

/** The base whose default serializer a class of the JDK, Scala or Guava gets. */
export type KnownBase = 'collection' | 'map' | 'throwable' | 'sorted-set' | 'sorted-map' | 'skip-list-map' | 'enum-set';

const COLLECTIONS = new Set(
  `AbstractCollection AbstractList AbstractList$RandomAccessSubList AbstractList$SubList AbstractMap$1 AbstractMap$2 AbstractQueue AbstractSequentialList AbstractSet ArrayDeque
ArrayList ArrayList$SubList Arrays$ArrayList Collection Collections$AsLIFOQueue Collections$CheckedCollection Collections$CheckedList Collections$CheckedNavigableSet
Collections$CheckedQueue Collections$CheckedRandomAccessList Collections$CheckedSet Collections$CheckedSortedSet Collections$CopiesList Collections$SetFromMap
Collections$SynchronizedCollection Collections$SynchronizedList Collections$SynchronizedNavigableSet Collections$SynchronizedRandomAccessList
Collections$SynchronizedSet Collections$SynchronizedSortedSet Collections$UnmodifiableCollection Collections$UnmodifiableList
Collections$UnmodifiableMap$UnmodifiableEntrySet Collections$UnmodifiableNavigableSet Collections$UnmodifiableNavigableSet$EmptyNavigableSet
Collections$UnmodifiableRandomAccessList Collections$UnmodifiableSequencedCollection Collections$UnmodifiableSequencedSet Collections$UnmodifiableSet
Collections$UnmodifiableSortedSet Deque EnumMap$EntrySet EnumMap$KeySet EnumMap$Values HashMap$EntrySet HashMap$KeySet HashMap$Values HashSet Hashtable$EntrySet
Hashtable$KeySet Hashtable$ValueCollection IdentityHashMap$EntrySet IdentityHashMap$KeySet IdentityHashMap$Values ImmutableCollections$AbstractImmutableCollection
ImmutableCollections$AbstractImmutableList ImmutableCollections$AbstractImmutableSet ImmutableCollections$List12 ImmutableCollections$ListN ImmutableCollections$Set12
ImmutableCollections$SetN ImmutableCollections$SubList LinkedHashMap$LinkedEntrySet LinkedHashMap$LinkedKeySet LinkedHashMap$LinkedValues LinkedHashSet LinkedList List
NavigableSet PriorityQueue Queue ReverseOrderListView ReverseOrderDequeView SequencedCollection SequencedSet Set SortedSet Stack SubList RandomAccessSubList
TreeMap$AscendingSubMap$AscendingEntrySetView TreeMap$DescendingSubMap$DescendingEntrySetView TreeMap$EntrySet TreeMap$KeySet TreeMap$Values Vector
WeakHashMap$EntrySet WeakHashMap$KeySet WeakHashMap$Values concurrent.ArrayBlockingQueue concurrent.BlockingDeque concurrent.BlockingQueue
concurrent.ConcurrentHashMap$CollectionView concurrent.ConcurrentHashMap$EntrySetView concurrent.ConcurrentHashMap$KeySetView concurrent.ConcurrentHashMap$ValuesView
concurrent.ConcurrentLinkedDeque concurrent.ConcurrentLinkedQueue concurrent.ConcurrentSkipListMap$EntrySet concurrent.ConcurrentSkipListMap$KeySet
concurrent.ConcurrentSkipListMap$Values concurrent.ConcurrentSkipListSet concurrent.CopyOnWriteArrayList concurrent.CopyOnWriteArrayList$COWSubList
concurrent.CopyOnWriteArraySet concurrent.DelayQueue concurrent.LinkedBlockingDeque concurrent.LinkedBlockingQueue concurrent.LinkedTransferQueue
concurrent.PriorityBlockingQueue concurrent.SynchronousQueue concurrent.TransferQueue`
    .split(/\s+/)
    .map(n => `java.util.${n}`),
);
const MAPS = new Set(
  `AbstractMap Collections$CheckedMap Collections$CheckedNavigableMap Collections$CheckedSortedMap Collections$SynchronizedMap Collections$SynchronizedNavigableMap
Collections$SynchronizedSortedMap Collections$UnmodifiableMap Collections$UnmodifiableNavigableMap Collections$UnmodifiableNavigableMap$EmptyNavigableMap
Collections$UnmodifiableSequencedMap Collections$UnmodifiableSortedMap EnumMap HashMap Hashtable IdentityHashMap ImmutableCollections$AbstractImmutableMap
ImmutableCollections$Map1 ImmutableCollections$MapN LinkedHashMap Map NavigableMap Properties SequencedMap SortedMap TreeMap$AscendingSubMap TreeMap$DescendingSubMap
TreeMap$NavigableSubMap TreeMap$SubMap WeakHashMap concurrent.ConcurrentHashMap concurrent.ConcurrentMap concurrent.ConcurrentNavigableMap
concurrent.ConcurrentSkipListMap$SubMap`
    .split(/\s+/)
    .map(n => `java.util.${n}`),
);
const OTHERS: ReadonlyMap<string, KnownBase> = new Map([
  ['java.util.TreeSet', 'sorted-set'],
  ['java.util.TreeMap', 'sorted-map'],
  ['java.util.concurrent.ConcurrentSkipListMap', 'skip-list-map'],
  ['java.util.EnumSet', 'enum-set'],
  ['java.util.RegularEnumSet', 'enum-set'],
  ['java.util.JumboEnumSet', 'enum-set'],
  ['java.lang.Throwable', 'throwable'],
  ['org.apache.avro.generic.GenericData$Array', 'collection'],
]);
/** Guava's own collections: their simple names tell what they are. */
const GUAVA = /^(com\.google\.common|org\.apache\.flink\.shaded\.guava\d+\.com\.google\.common)\.collect\.(?:[\w$]*\$)?(\w+)$/;

/** Which base a class without layout has, by its name. */
export function knownBase(name: string): KnownBase | undefined {
  if (COLLECTIONS.has(name)) return 'collection';
  if (MAPS.has(name)) return 'map';
  const other = OTHERS.get(name);
  if (other !== undefined) return other;
  if (isPlatform(name)) return /(Exception|Error|Throwable)$/.test(name) ? 'throwable' : undefined;
  const guava = GUAVA.exec(name)?.[2];
  if (guava === undefined) return undefined;
  if (/(Map|MapN|BiMap)$/.test(guava) && !/Multimap$/.test(guava)) return 'map';
  return /(List|Set|Multiset|Queue|Deque|Collection)$/.test(guava) ? 'collection' : undefined;
}
