import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import io.debezium.relational.TableId;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.cdc.connectors.base.source.assigner.AssignerStatus;
import org.apache.flink.cdc.connectors.base.source.assigner.state.ChunkSplitterState;
import org.apache.flink.cdc.connectors.base.source.assigner.state.HybridPendingSplitsState;
import org.apache.flink.cdc.connectors.base.source.assigner.state.PendingSplitsStateSerializer;
import org.apache.flink.cdc.connectors.base.source.assigner.state.SnapshotPendingSplitsState;
import org.apache.flink.cdc.connectors.base.source.meta.offset.Offset;
import org.apache.flink.cdc.connectors.base.source.meta.offset.OffsetFactory;
import org.apache.flink.cdc.connectors.base.source.meta.split.FinishedSnapshotSplitInfo;
import org.apache.flink.cdc.connectors.base.source.meta.split.SchemalessSnapshotSplit;
import org.apache.flink.cdc.connectors.base.source.meta.split.SnapshotSplit;
import org.apache.flink.cdc.connectors.base.source.meta.split.SourceSplitSerializer;
import org.apache.flink.cdc.connectors.base.source.meta.split.StreamSplit;
import org.apache.flink.cdc.connectors.postgres.source.offset.PostgresOffsetFactory;
import org.apache.flink.connector.base.sink.writer.BufferedRequestState;
import org.apache.flink.connector.base.sink.writer.RequestEntryWrapper;
import org.apache.flink.connector.dynamodb.sink.DynamoDbWriteRequest;
import org.apache.flink.connector.dynamodb.sink.DynamoDbWriteRequestType;
import org.apache.flink.connector.dynamodb.sink.DynamoDbWriterStateSerializer;
import org.apache.flink.connector.kinesis.source.split.KinesisShardSplit;
import org.apache.flink.connector.kinesis.source.split.KinesisShardSplitSerializer;
import org.apache.flink.connector.kinesis.source.split.StartingPosition;
import org.apache.flink.connector.pulsar.sink.committer.PulsarCommittable;
import org.apache.flink.connector.pulsar.sink.committer.PulsarCommittableSerializer;
import org.apache.flink.connector.pulsar.source.enumerator.PulsarSourceEnumState;
import org.apache.flink.connector.pulsar.source.enumerator.PulsarSourceEnumStateSerializer;
import org.apache.flink.connector.pulsar.source.enumerator.cursor.StopCursor;
import org.apache.flink.connector.pulsar.source.enumerator.topic.TopicPartition;
import org.apache.flink.connector.pulsar.source.enumerator.topic.TopicRange;
import org.apache.flink.connector.pulsar.source.split.PulsarPartitionSplit;
import org.apache.flink.connector.pulsar.source.split.PulsarPartitionSplitSerializer;
import org.apache.flink.connector.sqs.sink.SqsStateSerializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.InstantiationUtil;
import org.apache.pulsar.client.api.transaction.TxnID;
import org.apache.pulsar.client.impl.BatchMessageIdImpl;
import org.apache.pulsar.client.impl.MessageIdImpl;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** Prints what the connectors' own serializers write: name, version, bytes. The values are those that written.test.ts expects. */
public class Written {
    static <T> void print(String name, SimpleVersionedSerializer<T> serializer, T value) throws IOException {
        print(name, serializer.getVersion(), serializer.serialize(value));
    }

    static void print(String name, int version, byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) hex.append(String.format("%02x", b));
        System.out.println(name + " " + version + " " + hex);
    }

    public static void main(String[] args) throws Exception {
        pulsar();
        aws();
        postgres();
        rabbit();
    }

    static void pulsar() throws Exception {
        TopicPartition ranged =
                new TopicPartition("persistent://public/default/ord-ž", 3, List.of(new TopicRange(0, 100), new TopicRange(200, 65535)));
        TopicPartition plain = new TopicPartition("persistent://public/default/plain");
        print("pulsar-split", PulsarPartitionSplitSerializer.INSTANCE,
                new PulsarPartitionSplit(ranged, StopCursor.never(), new MessageIdImpl(12345678901L, 77, 3), new TxnID(1, -2)));
        print("pulsar-split", PulsarPartitionSplitSerializer.INSTANCE,
                new PulsarPartitionSplit(plain, StopCursor.atEventTime(1700000000000L), new BatchMessageIdImpl(5, 6, -1, 7), null));
        print("pulsar-split", PulsarPartitionSplitSerializer.INSTANCE, new PulsarPartitionSplit(plain, StopCursor.latest()));
        Set<TopicPartition> set = new LinkedHashSet<>();
        set.add(ranged);
        set.add(plain);
        print("pulsar-enumerator", PulsarSourceEnumStateSerializer.INSTANCE, new PulsarSourceEnumState(set));
        print("pulsar-committable", new PulsarCommittableSerializer(), new PulsarCommittable(new TxnID(4, 9223372036854775807L), "persistent://public/default/out"));
    }

    static void aws() throws Exception {
        String arn = "arn:aws:kinesis:eu-west-1:123456789012:stream/orders";
        KinesisShardSplitSerializer kinesis = new KinesisShardSplitSerializer();
        print("kinesis-split", kinesis, new KinesisShardSplit(arn, "shardId-000000000001", StartingPosition.fromStart()));
        print("kinesis-split", kinesis, new KinesisShardSplit(arn, "shardId-000000000002", StartingPosition.continueFromSequenceNumber("49590338271490256608559692538361571095921575989136588898")));
        print("kinesis-split", kinesis, new KinesisShardSplit(arn, "shardId-000000000003", StartingPosition.fromTimestamp(Instant.ofEpochMilli(1700000000123L))));
        SendMessageBatchRequestEntry entry = SendMessageBatchRequestEntry.builder().messageBody("hello ž").id("id-1").build();
        print("sqs-writer", new SqsStateSerializer(), new BufferedRequestState<>(Collections.singletonList(new RequestEntryWrapper<>(entry, 8))));
        Map<String, AttributeValue> item = new LinkedHashMap<>();
        item.put("s", AttributeValue.builder().s("text ž").build());
        item.put("n", AttributeValue.builder().n("12345678901234567890.5").build());
        item.put("bool", AttributeValue.builder().bool(true).build());
        item.put("nul", AttributeValue.builder().nul(true).build());
        item.put("b", AttributeValue.builder().b(SdkBytes.fromByteArray(new byte[] {0, 1, -1})).build());
        item.put("ss", AttributeValue.builder().ss("a", "b").build());
        item.put("ns", AttributeValue.builder().ns("1", "2.5").build());
        item.put("bs", AttributeValue.builder().bs(SdkBytes.fromByteArray(new byte[] {9})).build());
        item.put("l", AttributeValue.builder().l(AttributeValue.builder().s("x").build(), AttributeValue.builder().n("1").build()).build());
        item.put("m", AttributeValue.builder().m(Collections.singletonMap("k", AttributeValue.builder().s("v").build())).build());
        List<RequestEntryWrapper<DynamoDbWriteRequest>> requests = Arrays.asList(
                new RequestEntryWrapper<>(DynamoDbWriteRequest.builder().setType(DynamoDbWriteRequestType.PUT).setItem(item).build(), 1),
                new RequestEntryWrapper<>(DynamoDbWriteRequest.builder().setType(DynamoDbWriteRequestType.DELETE)
                        .setItem(Collections.singletonMap("id", AttributeValue.builder().n("7").build())).build(), 1));
        print("dynamodb-writer", new DynamoDbWriterStateSerializer(), new BufferedRequestState<>(requests));
    }

    static Offset lsn(OffsetFactory factory, String lsn) {
        Map<String, String> map = new LinkedHashMap<>();
        map.put("lsn", lsn);
        map.put("txId", "555");
        map.put("ts_usec", "1700000000000000");
        return factory.newOffset(map);
    }

    static void postgres() throws Exception {
        OffsetFactory factory = new PostgresOffsetFactory();
        SourceSplitSerializer splits = new SourceSplitSerializer() {
            @Override
            public OffsetFactory getOffsetFactory() {
                return factory;
            }
        };
        TableId table = new TableId(null, "public", "objednávky");
        RowType key = (RowType) DataTypes.ROW(DataTypes.FIELD("id", DataTypes.BIGINT())).getLogicalType();
        print("postgres-split", splits, new SnapshotSplit(table, 4, key, new Object[] {10L}, null, lsn(factory, "9223372036854775806"), Collections.emptyMap()));
        FinishedSnapshotSplitInfo finished = new FinishedSnapshotSplitInfo(table, "public.objednávky:0", null, new Object[] {10L}, lsn(factory, "99"), factory);
        print("postgres-split", splits, new StreamSplit("stream-split", lsn(factory, "100"), factory.createNoStoppingOffset(), List.of(finished), Collections.emptyMap(), 1, false, true));
        SchemalessSnapshotSplit remaining = new SchemalessSnapshotSplit(table, "public.objednávky:5", key, new Object[] {20L}, new Object[] {30L}, null);
        SchemalessSnapshotSplit assigned = new SchemalessSnapshotSplit(table, "public.objednávky:4", key, new Object[] {10L}, new Object[] {20L}, null);
        SnapshotPendingSplitsState state = new SnapshotPendingSplitsState(
                List.of(new TableId(null, "public", "done")), List.of(remaining), Map.of("public.objednávky:4", assigned), Map.of(),
                Map.of("public.objednávky:4", lsn(factory, "123")), AssignerStatus.NEWLY_ADDED_ASSIGNING, List.of(new TableId(null, "public", "todo")),
                true, true, Map.of("public.objednávky:4", 12L),
                new ChunkSplitterState(table, ChunkSplitterState.ChunkBound.middleOf(30L), 6));
        print("postgres-enumerator", new PendingSplitsStateSerializer(splits), new HybridPendingSplitsState(state, false));
    }

    static void rabbit() throws Exception {
        ArrayDeque<Tuple2<Long, Set<String>>> pending = new ArrayDeque<>();
        pending.add(new Tuple2<>(41L, new LinkedHashSet<>(Arrays.asList("msg-ž", "msg-2"))));
        pending.add(new Tuple2<>(42L, new LinkedHashSet<>()));
        // the class is not public
        Method fromDeque = Class.forName("org.apache.flink.streaming.api.functions.source.SerializedCheckpointData")
                .getDeclaredMethod("fromDeque", ArrayDeque.class, TypeSerializer.class);
        fromDeque.setAccessible(true);
        print("rabbitmq", 0, InstantiationUtil.serializeObject((java.io.Serializable) fromDeque.invoke(null, pending, StringSerializer.INSTANCE)));
    }
}
