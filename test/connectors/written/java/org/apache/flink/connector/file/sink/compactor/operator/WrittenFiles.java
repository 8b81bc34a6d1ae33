package org.apache.flink.connector.file.sink.compactor.operator;

import java.io.File;
import java.lang.reflect.Constructor;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.connector.base.source.hybrid.HybridSourceSplit;
import org.apache.flink.connector.base.source.hybrid.HybridSourceSplitSerializer;
import org.apache.flink.connector.file.sink.FileSinkCommittable;
import org.apache.flink.connector.file.sink.FileSinkCommittableSerializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.RecoverableWriter;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.functions.sink.filesystem.InProgressFileWriter;
import org.apache.flink.streaming.api.functions.sink.filesystem.OutputStreamBasedPartFileWriter;
import org.apache.kafka.common.TopicPartition;

/** Prints what the serializers of Flink's file sink and hybrid source write. */
public class WrittenFiles {
    static <T> void print(String name, SimpleVersionedSerializer<T> serializer, T value) throws Exception {
        StringBuilder hex = new StringBuilder();
        for (byte b : serializer.serialize(value)) hex.append(String.format("%02x", b));
        System.out.println(name + " " + serializer.getVersion() + " " + hex);
    }

    @SuppressWarnings("unchecked")
    static <T> T make(String className, Object... arguments) throws Exception {
        for (Constructor<?> c : Class.forName(className).getDeclaredConstructors()) {
            if (c.getParameterCount() != arguments.length) continue;
            c.setAccessible(true);
            return (T) c.newInstance(arguments);
        }
        throw new IllegalArgumentException(className);
    }

    public static void main(String[] args) throws Exception {
        RecoverableWriter writer = LocalFileSystem.getSharedInstance().createRecoverableWriter();
        RecoverableWriter.ResumeRecoverable recoverable = make("org.apache.flink.core.fs.local.LocalRecoverable",
                new File("/data/b=ž/part-0"), new File("/data/b=ž/.part-0.inprogress"), 123L);
        String outer = OutputStreamBasedPartFileWriter.class.getName();
        SimpleVersionedSerializer<InProgressFileWriter.PendingFileRecoverable> pendingSerializer =
                make(outer + "$OutputStreamBasedPendingFileRecoverableSerializer", writer.getCommitRecoverableSerializer());
        SimpleVersionedSerializer<InProgressFileWriter.InProgressFileRecoverable> inProgressSerializer =
                make(outer + "$OutputStreamBasedInProgressFileRecoverableSerializer", writer.getResumeRecoverableSerializer());
        InProgressFileWriter.PendingFileRecoverable pending = new OutputStreamBasedPartFileWriter.OutputStreamBasedPendingFileRecoverable(
                (RecoverableWriter.CommitRecoverable) recoverable, new Path("file:/data/b=ž/part-0"), 123L);
        InProgressFileWriter.InProgressFileRecoverable inProgress =
                new OutputStreamBasedPartFileWriter.OutputStreamBasedInProgressFileRecoverable(recoverable, new Path("file:/data/b=ž/part-0"));
        FileSinkCommittableSerializer committables = new FileSinkCommittableSerializer(pendingSerializer, inProgressSerializer);
        FileSinkCommittable toCommit = new FileSinkCommittable("b=ž", pending);
        FileSinkCommittable toClean = new FileSinkCommittable("b=ž", inProgress);
        FileSinkCommittable compacted = new FileSinkCommittable("b=ž", new Path("file:/data/b=ž/compacted-0"));
        print("file-committable", committables, toCommit);
        print("file-committable", committables, toClean);
        print("file-committable", committables, compacted);
        CompactorRequest request = new CompactorRequest("b=ž", List.of(toCommit, toCommit), List.of(compacted));
        Map<Long, List<CompactorRequest>> left = new TreeMap<>();
        left.put(7L, List.of(request));
        left.put(8L, List.of());
        print("compactor-requests", new CompactorOperator.RemainingRequestsSerializer(new CompactorRequestSerializer(committables)), left);

        // StreamingFileSink: its state and the serializer of it are not public
        String sinks = "org.apache.flink.streaming.api.functions.sink.filesystem.";
        Map<Long, List<InProgressFileWriter.PendingFileRecoverable>> pendingFiles = new TreeMap<>();
        pendingFiles.put(5L, List.of(pending, pending));
        Object state = make(sinks + "BucketState", "b=ž", new Path("file:/data/b=ž"), 1700000000000L, inProgress, pendingFiles);
        SimpleVersionedSerializer<Object> buckets = make(sinks + "BucketStateSerializer", inProgressSerializer, pendingSerializer,
                org.apache.flink.streaming.api.functions.sink.filesystem.bucketassigners.SimpleVersionedStringSerializer.INSTANCE);
        print("bucket-state", buckets, state);

        KafkaPartitionSplit split = new KafkaPartitionSplit(new TopicPartition("orders", 3), 42L);
        byte[] wrapped = new KafkaPartitionSplitSerializer().serialize(split);
        HybridSourceSplit hybrid = make(HybridSourceSplit.class.getName(), 1, wrapped, 0, split.splitId());
        print("hybrid-split", new HybridSourceSplitSerializer(), hybrid);
    }
}
