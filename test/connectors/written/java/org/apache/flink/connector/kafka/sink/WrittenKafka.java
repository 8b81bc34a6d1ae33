package org.apache.flink.connector.kafka.sink;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.flink.connector.kafka.dynamic.metadata.ClusterMetadata;
import org.apache.flink.connector.kafka.dynamic.metadata.KafkaStream;
import org.apache.flink.connector.kafka.dynamic.source.enumerator.DynamicKafkaSourceEnumState;
import org.apache.flink.connector.kafka.dynamic.source.enumerator.DynamicKafkaSourceEnumStateSerializer;
import org.apache.flink.connector.kafka.sink.internal.CheckpointTransaction;
import org.apache.flink.connector.kafka.sink.internal.TransactionOwnership;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.kafka.common.TopicPartition;

/** Prints what the serializers of flink-connector-kafka 5.0 write; in this package because some of them are not public. */
public class WrittenKafka {
    static <T> void print(String name, SimpleVersionedSerializer<T> serializer, T value) throws Exception {
        StringBuilder hex = new StringBuilder();
        for (byte b : serializer.serialize(value)) hex.append(String.format("%02x", b));
        System.out.println(name + " " + serializer.getVersion() + " " + hex);
    }

    public static void main(String[] args) throws Exception {
        print("kafka-writer", new KafkaWriterStateSerializer(), new KafkaWriterState("pre-ž", 2, 5, TransactionOwnership.EXPLICIT_BY_WRITER_STATE,
                List.of(new CheckpointTransaction("pre-ž-2-7", 7L), new CheckpointTransaction("pre-ž-2-8", 8L))));
        print("kafka-writer", new KafkaWriterStateSerializer(), new KafkaWriterState("kafka-sink", 0, 1, TransactionOwnership.IMPLICIT_BY_SUBTASK_ID, List.of()));
        Properties properties = new Properties();
        properties.setProperty("bootstrap.servers", "broker:9092");
        Set<String> topics = new LinkedHashSet<>(List.of("t1", "t2"));
        Map<String, ClusterMetadata> clusters = new LinkedHashMap<>();
        clusters.put("cluster-a", new ClusterMetadata(topics, properties, OffsetsInitializer.earliest(), null));
        Map<String, KafkaSourceEnumState> states = new LinkedHashMap<>();
        states.put("cluster-a", new KafkaSourceEnumState(
                List.of(new KafkaPartitionSplit(new TopicPartition("t1", 0), 42L, 100L)),
                List.of(new KafkaPartitionSplit(new TopicPartition("t2", 1), KafkaPartitionSplit.EARLIEST_OFFSET)), true));
        print("dynamic-kafka-enumerator", new DynamicKafkaSourceEnumStateSerializer(),
                new DynamicKafkaSourceEnumState(Set.of(new KafkaStream("stream-1", clusters)), states));
    }
}
