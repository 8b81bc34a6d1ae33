import com.alibaba.fluss.flink.source.split.HybridSnapshotLogSplit;
import com.alibaba.fluss.flink.source.split.LogSplit;
import com.alibaba.fluss.flink.source.split.SourceSplitBase;
import com.alibaba.fluss.flink.source.split.SourceSplitSerializer;
import com.alibaba.fluss.flink.source.state.FlussSourceEnumeratorStateSerializer;
import com.alibaba.fluss.flink.source.state.SourceEnumeratorState;
import com.alibaba.fluss.metadata.TableBucket;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/** Prints what the serializers of fluss-flink 0.7 write. */
public class WrittenFluss {
    static void print(String name, int version, byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) hex.append(String.format("%02x", b));
        System.out.println(name + " " + version + " " + hex);
    }

    public static void main(String[] args) throws Exception {
        SourceSplitBase[] splits = {
            new LogSplit(new TableBucket(17, 3), null, 500L, 900L),
            new LogSplit(new TableBucket(17, 4L, 0), "2024-ž", -2L),
            new HybridSnapshotLogSplit(new TableBucket(17, 1), null, 88L, 12L, false, 1000L),
        };
        for (SourceSplitBase split : splits)
            print("fluss-split", SourceSplitSerializer.INSTANCE.getVersion(), SourceSplitSerializer.INSTANCE.serialize(split));
        SourceEnumeratorState state = new SourceEnumeratorState(
                new LinkedHashSet<>(List.of(new TableBucket(17, 3), new TableBucket(17, 4L, 0))), Map.of(4L, "2024-ž"));
        print("fluss-enumerator", FlussSourceEnumeratorStateSerializer.INSTANCE.getVersion(), FlussSourceEnumeratorStateSerializer.INSTANCE.serialize(state));
    }
}
