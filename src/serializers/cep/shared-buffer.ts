/**
 * The buffer of events that partial matches share, as a graph of nodes with counted references.
 *
 *   Lockable           composite, outer version 1, nested [element]                i32 references · element
 *   SharedBufferEdge   composite, outer version 1, nested [node id, Dewey number]  NodeId of the target · DeweyNumber
 *   SharedBufferNode   since 1.13 (snapshot V2): composite, outer version 1, nested [edge]      i32 n · n × (i32 references · edge)
 *                      before: composite, outer version 1, nested [list of edges]               i32 n · n × edge
 *
 * Flink: Lockable, SharedBufferEdge, SharedBufferNode, SharedBufferNodeSerializer in org.apache.flink.cep.nfa.sharedbuffer
 * (1.8–2.3).
 */
import type { Codec } from '../codec.js';
import { compositeCodec } from '../composite.js';
import { INT_CODEC } from '../primitives.js';
import { listCodec } from '../sequence.js';
import { defineSerializer, named, readComposite, type SnapshotBody } from '../snapshot.js';
import { DEWEY_CODEC, NODE_ID_CODEC } from './nfa.js';

const BUFFER = 'org.apache.flink.cep.nfa.sharedbuffer.';

function lockableCodec(element: Codec): Codec {
  return compositeCodec([
    { name: 'refCounter', codec: INT_CODEC },
    { name: 'element', codec: element },
  ]);
}
const EDGE_CODEC = compositeCodec([
  { name: 'target', codec: NODE_ID_CODEC },
  { name: 'deweyNumber', codec: DEWEY_CODEC },
]);
const nodeCodec = (edge: Codec): Codec => compositeCodec([{ name: 'edges', codec: listCodec(edge) }]);

export const SERIALIZERS = [
  defineSerializer({
    snapshotClasses: [`${BUFFER}LockableTypeSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      const [element] = nested;
      return {
        serializer: 'LockableTypeSerializer',
        text: `Lockable(${element.text})`,
        children: named(['element'], nested),
        codec: context => lockableCodec(element.codec(context)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${BUFFER}SharedBufferEdge$SharedBufferEdgeSerializer$SharedBufferEdgeSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 2);
      return {
        serializer: 'SharedBufferEdgeSerializer',
        text: 'SharedBufferEdge',
        children: named(['target', 'deweyNumber'], nested),
        codec: () => EDGE_CODEC,
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${BUFFER}SharedBufferNodeSerializerSnapshotV2`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      return {
        serializer: 'SharedBufferNodeSerializer',
        text: 'SharedBufferNode',
        children: named(['edge'], nested),
        codec: () => nodeCodec(lockableCodec(EDGE_CODEC)),
      };
    },
  }),
  defineSerializer({
    snapshotClasses: [`${BUFFER}SharedBufferNode$SharedBufferNodeSerializer$SharedBufferNodeSerializerSnapshot`],
    read(c, _version, reader): SnapshotBody {
      const { nested } = readComposite(c, reader, () => undefined, 1);
      return {
        serializer: 'SharedBufferNodeSerializer',
        text: 'SharedBufferNode',
        children: named(['edges'], nested),
        codec: () => nodeCodec(EDGE_CODEC),
      };
    },
  }),
];
