import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.checkpoint.*;
import org.apache.flink.runtime.checkpoint.channel.*;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.*;
import org.apache.flink.runtime.state.changelog.*;
import org.apache.flink.runtime.state.changelog.inmemory.InMemoryChangelogStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * Writes the files of this folder with Flink's own classes: java -cp <flink-runtime and what it needs> WriteMetadata <file>.
 * What differs between releases is called by reflection, so that one source serves 1.15.4 (V3) and 2.3.0 (V6).
 * Holds: a coordinator, a changelog handle over key groups with changes in memory and in a file, two input and two output channels
 * (merged from 2.1 on), a finished subtask, a finished operator, a master state. Prints the sizes that Flink computes.
 */
@SuppressWarnings({"unchecked", "rawtypes"})
public class WriteMetadata {
  public static void main(String[] args) throws Exception {
    boolean named = hasConstructor(OperatorState.class, String.class);
    OperatorState operator = newOperator(OperatorState.class, named, "Map", "my-uid", new OperatorID(1, 2), 2);
    operator.setCoordinatorState(new ByteStreamStateHandle("coord", new byte[] {1, 2, 3}));
    ByteStreamStateHandle channel = new ByteStreamStateHandle("chan", new byte[32]);
    List<InputChannelStateHandle> inputs = new ArrayList<>();
    inputs.add(new InputChannelStateHandle(0, new InputChannelInfo(0, 1), channel, Arrays.asList(4L, 8L), 10));
    inputs.add(new InputChannelStateHandle(0, new InputChannelInfo(1, 0), channel, Arrays.asList(20L), 6));
    List<ResultSubpartitionStateHandle> outputs = new ArrayList<>();
    outputs.add(new ResultSubpartitionStateHandle(0, new ResultSubpartitionInfo(0, 3), channel, Arrays.asList(28L), 4));
    outputs.add(new ResultSubpartitionStateHandle(0, new ResultSubpartitionInfo(0, 4), channel, Arrays.asList(30L), 2));
    OperatorSubtaskState.Builder subtask = OperatorSubtaskState.builder().setManagedKeyedState(changelog());
    subtask.setInputChannelState(channels("MergedInputChannelStateHandle", inputs));
    subtask.setResultSubpartitionState(channels("MergedResultSubpartitionStateHandle", outputs));
    operator.putState(0, subtask.build());
    Class<?> finished = Class.forName("org.apache.flink.runtime.checkpoint.FinishedOperatorSubtaskState");
    operator.putState(1, (OperatorSubtaskState) finished.getField("INSTANCE").get(null));
    OperatorState done = newOperator(FullyFinishedOperatorState.class, named, null, null, new OperatorID(3, 4), 3);
    List<MasterState> masters = Arrays.asList(new MasterState("hook", new byte[] {5, 6}, 7));
    CheckpointProperties properties = null;
    for (Method m : CheckpointProperties.class.getMethods())
      if (m.getName().equals("forCheckpoint"))
        properties = (CheckpointProperties) m.invoke(null, CheckpointRetentionPolicy.NEVER_RETAIN_AFTER_TERMINATION);
    Constructor<?> longest = longest(CheckpointMetadata.class);
    Object[] parts = {9L, Arrays.asList(operator, done), masters, properties};
    Object metadata = longest.newInstance(Arrays.copyOf(parts, longest.getParameterCount()));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Checkpoints.storeCheckpointMetadata((CheckpointMetadata) metadata, new DataOutputStream(bytes));
    Files.write(Paths.get(args[0]), bytes.toByteArray());
    System.out.println("state size " + operator.getStateSize() + ", checkpointed " + operator.getCheckpointedSize());
  }

  static KeyedStateHandle changelog() throws Exception {
    KeyGroupRange range = KeyGroupRange.of(0, 1);
    FileStateHandle file = new FileStateHandle(new Path("file:/ck/shared/11111111-1111-1111-1111-111111111111"), 100);
    List changes = Arrays.asList(change(-1, new byte[] {9}), change(1, new byte[] {7, 7}));
    KeyedStateHandle memory =
        new InMemoryChangelogStateHandle(changes, SequenceNumber.of(3L), SequenceNumber.of(5L), range);
    List<Tuple2<StreamStateHandle, Long>> streams = new ArrayList<>();
    streams.add(Tuple2.of(file, 17L));
    Constructor<?> ofFiles = longest(ChangelogStateHandleStreamImpl.class);
    Object[] parts = {streams, range, 55L, 44L, "filesystem"};
    KeyedStateHandle files = (KeyedStateHandle) ofFiles.newInstance(Arrays.copyOf(parts, ofFiles.getParameterCount()));
    KeyedStateHandle base = new KeyGroupsStateHandle(new KeyGroupRangeOffsets(range, new long[] {5, 6}), file);
    String name = "org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle$ChangelogStateBackendHandleImpl";
    Constructor<?> whole = longest(Class.forName(name));
    Object[] all = {Arrays.asList(base), Arrays.asList(memory, files), range, 70L, 71L, 72L};
    return (KeyedStateHandle) whole.newInstance(Arrays.copyOf(all, whole.getParameterCount()));
  }

  static StateChange change(int keyGroup, byte[] bytes) throws Exception {
    for (Method m : StateChange.class.getMethods()) {
      if (keyGroup < 0 && m.getName().equals("ofMetadataChange")) return (StateChange) m.invoke(null, (Object) bytes);
      if (keyGroup >= 0 && m.getName().equals("ofDataChange")) return (StateChange) m.invoke(null, keyGroup, bytes);
    }
    return StateChange.class.getConstructor(int.class, byte[].class).newInstance(keyGroup, bytes);
  }

  static StateObjectCollection channels(String mergedClass, List<?> handles) throws Exception {
    try {
      Method merge = Class.forName("org.apache.flink.runtime.state." + mergedClass).getMethod("fromChannelHandles", Collection.class);
      return StateObjectCollection.singleton((StateObject) merge.invoke(null, handles));
    } catch (ClassNotFoundException before21) {
      return new StateObjectCollection(handles);
    }
  }

  static OperatorState newOperator(Class<?> type, boolean named, String name, String uid, OperatorID id, int parallelism) throws Exception {
    if (!named) return (OperatorState) longest(type).newInstance(id, parallelism, 128);
    return (OperatorState) longest(type).newInstance(name, uid, id, parallelism, 128);
  }

  static boolean hasConstructor(Class<?> type, Class<?> first) {
    return Arrays.stream(type.getConstructors()).anyMatch(c -> c.getParameterCount() > 0 && c.getParameterTypes()[0] == first);
  }

  static Constructor<?> longest(Class<?> type) {
    Constructor<?> longest = null;
    for (Constructor<?> c : type.getConstructors())
      if (longest == null || c.getParameterCount() > longest.getParameterCount()) longest = c;
    return longest;
  }
}
