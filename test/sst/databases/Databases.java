import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.zip.GZIPOutputStream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.ChecksumType;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactionStyle;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.EnvOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.IndexType;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksIterator;
import org.rocksdb.SstFileWriter;
import org.rocksdb.WriteOptions;

/**
 * Makes the databases in this folder with RocksDB itself, in forms that Flink does not write by default. See README.md.
 * Each gets puts, deletes, single deletes, range deletes, merges, ingested files, flushes and compactions, and what an
 * iterator then says of it.
 */
public class Databases {
  static final List<String> FAMILIES = List.of("default", "value", "list", "_timer_state/event");

  final Random random;
  final BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockSize(512).setBlockRestartInterval(4);
  CompressionType compression = CompressionType.SNAPPY_COMPRESSION;
  int dictionary = 0;
  int training = 0;
  CompactionStyle style = CompactionStyle.LEVEL;
  int prefix = 0;
  int operations = 1500;

  Databases(int seed) {
    random = new Random(seed);
  }

  public static void main(String[] args) throws Exception {
    RocksDB.loadLibrary();
    Path out = Path.of(args[0]);
    boolean newer = Arrays.stream(ChecksumType.values()).anyMatch(type -> type.name().equals("kXXH3"));
    if (!newer) {
      Databases d = new Databases(1);
      d.table.setFormatVersion(2).setChecksumType(ChecksumType.kCRC32c).setFilterPolicy(new BloomFilter(10, false));
      d.make(out, "v2-crc32c-snappy-bloom");

      d = new Databases(2);
      d.table.setFormatVersion(3).setChecksumType(ChecksumType.kxxHash);
      d.compression = CompressionType.ZLIB_COMPRESSION;
      d.dictionary = 2048;
      d.make(out, "v3-xxhash-zlib-dictionary");

      d = new Databases(3);
      d.table.setFormatVersion(4).setChecksumType(ChecksumType.kxxHash64).setIndexType(IndexType.kTwoLevelIndexSearch);
      d.table.setMetadataBlockSize(128).setIndexBlockRestartInterval(3);
      d.compression = CompressionType.LZ4_COMPRESSION;
      d.dictionary = 2048;
      d.style = CompactionStyle.UNIVERSAL;
      d.make(out, "v4-xxhash64-lz4-dictionary-partitioned");

      d = new Databases(4);
      d.table.setFormatVersion(5).setChecksumType(ChecksumType.kCRC32c).setIndexType(IndexType.kHashSearch);
      d.compression = CompressionType.LZ4HC_COMPRESSION;
      d.prefix = 1;
      d.make(out, "v5-crc32c-lz4hc-hash");
      return;
    }
    Databases d = new Databases(5);
    d.table.setFormatVersion(5).setChecksumType(ChecksumType.kNoChecksum).setIndexType(IndexType.kBinarySearchWithFirstKey);
    d.compression = CompressionType.NO_COMPRESSION;
    d.make(out, "v5-nochecksum-none-firstkey");

    d = new Databases(6);
    d.table.setFormatVersion(5).setChecksumType(ChecksumType.valueOf("kXXH3"));
    d.compression = CompressionType.ZSTD_COMPRESSION;
    d.dictionary = 2048;
    d.training = 1 << 16;
    d.operations = 4000;
    d.make(out, "v5-xxh3-zstd-trained");

    d = new Databases(7);
    d.table.setFormatVersion(5).setChecksumType(ChecksumType.valueOf("kXXH3")).setIndexType(IndexType.kTwoLevelIndexSearch);
    d.table.setFilterPolicy(new BloomFilter(10, false)).setPartitionFilters(true).setMetadataBlockSize(128);
    d.compression = CompressionType.ZSTD_COMPRESSION;
    d.dictionary = 1024;
    d.make(out, "v5-xxh3-zstd-dictionary-partitioned-bloom");

    d = new Databases(8);
    d.table.setFormatVersion(6).setChecksumType(ChecksumType.valueOf("kXXH3"));
    d.table.setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash).setDataBlockHashTableUtilRatio(0.75);
    d.table.setFilterPolicy(new BloomFilter(10, false));
    d.make(out, "v6-xxh3-snappy-blockhash-bloom");

    d = new Databases(9);
    d.table.setFormatVersion(6).setChecksumType(ChecksumType.kCRC32c).setIndexBlockRestartInterval(2);
    d.compression = CompressionType.BZLIB2_COMPRESSION;
    d.make(out, "v6-crc32c-bzip2");
  }

  void make(Path out, String name) throws Exception {
    Path work = Files.createTempDirectory("rocks");
    CompressionOptions compressionOptions = new CompressionOptions();
    if (dictionary > 0) compressionOptions.setMaxDictBytes(dictionary);
    if (training > 0) compressionOptions.setZStdMaxTrainBytes(training);
    compressionOptions.setEnabled(true);
    List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
    for (String family : FAMILIES) {
      ColumnFamilyOptions options = new ColumnFamilyOptions().setMergeOperatorName("stringappendtest")
          .setTableFormatConfig(table).setCompressionType(compression).setBottommostCompressionType(compression)
          .setCompressionOptions(compressionOptions).setBottommostCompressionOptions(compressionOptions)
          .setWriteBufferSize(64 << 10).setTargetFileSizeBase(8 << 10).setMaxBytesForLevelBase(16 << 10)
          .setLevel0FileNumCompactionTrigger(3).setCompactionStyle(style);
      if (prefix > 0) options.useFixedLengthPrefixExtractor(prefix);
      descriptors.add(new ColumnFamilyDescriptor(family.getBytes(StandardCharsets.UTF_8), options));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    RocksDB db = RocksDB.open(new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true), work + "/db", descriptors, handles);
    for (int i = 0; i < operations; i++) operate(db, handles, work, i);
    Path checkpoint = out.resolve(name);
    Checkpoint.create(db).createCheckpoint(checkpoint.toString());
    try (PrintWriter contents = new PrintWriter(new OutputStreamWriter(
        new GZIPOutputStream(new FileOutputStream(checkpoint.resolve("contents.txt.gz").toFile())), StandardCharsets.UTF_8))) {
      for (int c = 0; c < handles.size(); c++) {
        try (RocksIterator iterator = db.newIterator(handles.get(c))) {
          for (iterator.seekToFirst(); iterator.isValid(); iterator.next())
            contents.println(FAMILIES.get(c) + " " + hex(iterator.key()) + " " + hex(iterator.value()));
        }
      }
    }
    for (File file : checkpoint.toFile().listFiles()) if (file.getName().startsWith("OPTIONS") || file.getName().endsWith(".log")) file.delete();
    for (ColumnFamilyHandle handle : handles) handle.close();
    db.close();
    System.out.println(name);
  }

  void operate(RocksDB db, List<ColumnFamilyHandle> handles, Path work, int i) throws Exception {
    WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
    FlushOptions wait = new FlushOptions().setWaitForFlush(true);
    int c = 1 + random.nextInt(3);
    ColumnFamilyHandle family = handles.get(c);
    byte[] key = key(random.nextInt(8), "key_" + random.nextInt(400) + (random.nextInt(20) == 0 ? "-and-a-long-suffix".repeat(random.nextInt(12)) : ""));
    byte[] value = value(c);
    int dice = random.nextInt(1000);
    if (dice < 8) db.flush(wait, family);
    else if (dice < 12) {
      byte[] end = key.clone();
      end[end.length - 1] += 1 + random.nextInt(5);
      byte[] begin = Arrays.copyOf(key, key.length - random.nextInt(3));
      if (Arrays.compareUnsigned(begin, end) < 0) db.deleteRange(family, unlogged, begin, end);
    } else if (dice < 13 && random.nextInt(2) == 0) {
      byte first = (byte) random.nextInt(8);
      db.deleteRange(family, unlogged, new byte[] {first}, new byte[] {(byte) (first + 1)});
    } else if (dice < 16) db.compactRange(family);
    else if (dice < 18 && prefix == 0) {
      String file = work + "/ingest-" + i + ".sst";
      try (Options options = new Options().setTableFormatConfig(table).setCompressionType(compression).setMergeOperatorName("stringappendtest");
          SstFileWriter writer = new SstFileWriter(new EnvOptions(), options)) {
        writer.open(file);
        TreeSet<String> keys = new TreeSet<>();
        for (int j = 0; j < 20; j++) keys.add("key_" + random.nextInt(400));
        int group = random.nextInt(8);
        for (String k : keys) writer.put(key(group, k), c == 3 ? new byte[0] : ("ingested-" + i).getBytes(StandardCharsets.UTF_8));
        writer.finish();
      }
      db.ingestExternalFile(family, List.of(file), new IngestExternalFileOptions().setMoveFiles(true));
    } else if (dice < 120) db.delete(family, unlogged, key);
    else if (dice < 140) {
      byte[] single = key(9, "single_" + i);
      db.put(family, unlogged, single, value);
      if (random.nextBoolean()) {
        if (random.nextInt(4) == 0) db.flush(wait, family);
        db.singleDelete(family, unlogged, single);
      }
    } else if (c == 2 && dice < 850) db.merge(family, unlogged, key, Arrays.copyOf(value, Math.min(value.length, 20)));
    else db.put(family, unlogged, key, value);
  }

  static byte[] key(int group, String text) {
    byte[] bytes = (" " + text).getBytes(StandardCharsets.UTF_8);
    bytes[0] = (byte) group;
    return bytes;
  }

  byte[] value(int family) {
    if (family == 3) return new byte[0];
    byte[] value = new byte[random.nextInt(60) == 0 ? random.nextInt(3000) : random.nextInt(40)];
    for (int j = 0; j < value.length; j++) value[j] = (byte) (random.nextInt(6) == 0 ? random.nextInt(256) : 'a' + j % 7);
    return value;
  }

  static String hex(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) text.append(String.format("%02x", b & 255));
    return text.toString();
  }
}
