package org.apache.flink.streaming.connectors.kafka;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction;

/** Prints what the serializers of FlinkKafkaProducer write (flink-connector-kafka 3.4): the snapshot, then a value. */
public class WrittenLegacyKafka {
    static <T> void print(String name, TypeSerializer<T> serializer, T value) throws Exception {
        DataOutputSerializer snapshot = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(snapshot, serializer.snapshotConfiguration());
        print(name + "-snapshot", snapshot.getCopyOfBuffer());
        DataOutputSerializer out = new DataOutputSerializer(64);
        serializer.serialize(value, out);
        print(name, out.getCopyOfBuffer());
    }

    static void print(String name, byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) hex.append(String.format("%02x", b));
        System.out.println(name + " 0 " + hex);
    }

    static FlinkKafkaProducer.KafkaTransactionState transaction(String id, long producerId, int epoch) {
        return new FlinkKafkaProducer.KafkaTransactionState(id, producerId, (short) epoch, null);
    }

    public static void main(String[] args) throws Exception {
        TypeSerializer<FlinkKafkaProducer.KafkaTransactionState> transactions = new FlinkKafkaProducer.TransactionStateSerializer();
        TypeSerializer<FlinkKafkaProducer.KafkaTransactionContext> contexts = new FlinkKafkaProducer.ContextStateSerializer();
        FlinkKafkaProducer.KafkaTransactionContext context =
                new FlinkKafkaProducer.KafkaTransactionContext(new LinkedHashSet<>(Arrays.asList("txn-ž-1")));
        print("legacy-kafka-state", new TwoPhaseCommitSinkFunction.StateSerializer<>(transactions, contexts),
                new TwoPhaseCommitSinkFunction.State<>(
                        new TwoPhaseCommitSinkFunction.TransactionHolder<>(transaction("txn-ž-1", 9223372036854775807L, 7), 1700000000000L),
                        List.of(new TwoPhaseCommitSinkFunction.TransactionHolder<>(transaction("txn-ž-0", 5L, 32767), 1700000000001L),
                                new TwoPhaseCommitSinkFunction.TransactionHolder<>(transaction(null, -1L, -1), 1700000000002L)),
                        Optional.of(context)));
        print("legacy-kafka-hint", new FlinkKafkaProducer.NextTransactionalIdHintSerializer(),
                new FlinkKafkaProducer.NextTransactionalIdHint(4, 123456789012L));
    }
}
