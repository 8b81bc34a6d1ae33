/**
 * Objects by their fields: FieldSerializer for classes without a serializer of their own, RecordSerializer for records (Kryo 5).
 *
 *   object    field · field · … sorted by name, of the whole class chain
 *   field     primitive: as the box, without class or reference
 *             final class: object or null        other: class tag (0 null) · object
 *   record    components sorted by name: primitives as objects, final classes object or null, others class and object
 *
 * FieldSerializer, ObjectField (2.24.0); FieldSerializer, ReflectField, RecordSerializer (5.6.2).
 */
import { arrayOf, type KryoField, type KryoLayout } from './classes.js';
import { PRIMITIVES } from './known-classes.js';
import { meaningOf } from './meanings.js';
import { type Body, type KryoReader, keepPartial } from './reader.js';
import { primitiveBody } from './scalars.js';
import { type KryoNode, type KryoObject, NULL_NODE } from './tree.js';

/** Reads an object by its layout. */
export const fieldsBody: Body = (r, ref) => {
  const layout = r.dialect.classes.layout(ref.name);
  if (layout === undefined) return r.giveUp(ref.name, `class ${ref.name} is in no jar`);
  const node: KryoObject = { kind: 'object', className: ref.name, fields: [] };
  const meaning = meaningOf(ref.name);
  // a value that stands for its fields is not known before them
  if (meaning === undefined) r.opened(node);
  if (!r.v5) readFields2(r, layout, node);
  else if (layout.isRecord) readRecord(r, layout, node);
  else readFields5(r, layout, node);
  return meaning === undefined ? node : meaning(r, new Map(node.fields.map(f => [f.name, f.value])), node);
};

function each(r: KryoReader, layout: KryoLayout, node: KryoObject, read: (field: KryoField) => KryoNode): void {
  for (const field of layout.fields) {
    if (field.isSynthetic && !r.dialect.scala) continue;
    try {
      node.fields.push({ name: field.shown, value: read(field), declared: field.type });
    } catch (error) {
      throw keepPartial(error, part => node.fields.push({ name: field.shown, value: part, declared: field.type }), node);
    }
  }
}

/** A class tag is needed unless the class is final. */
function isFinal(r: KryoReader, type: string, field: KryoField): boolean {
  const final = r.dialect.classes.isFinal(type);
  if (final !== undefined) return final;
  return r.giveUp(undefined, `class ${type} of field ${field.name} is in no jar`);
}

function readFields2(r: KryoReader, layout: KryoLayout, node: KryoObject): void {
  const before = r.scoped.enter(layout.name);
  const inGeneric = r.dialect.classes.typeParameters(layout.name).length > 0;
  each(r, layout, node, field => {
    if (PRIMITIVES.has(field.type)) return (primitiveBody(field.type) as Body)(r, { name: field.type });
    const { type, args } = r.scoped.ofField(field, inGeneric);
    if (isFinal(r, type, field)) {
      r.scoped.tell(type, args);
      return r.objectOrNull(r.dialect.classOf(type));
    }
    const ref = r.readClass();
    if (ref === undefined) return NULL_NODE;
    r.scoped.tell(ref.name, args);
    return r.object(ref);
  });
  r.scoped.leave(before);
}

function readFields5(r: KryoReader, layout: KryoLayout, node: KryoObject): void {
  const types = r.stacked.next();
  const pushed = types === undefined ? 0 : r.stacked.pushVariables(layout.name, types);
  each(r, layout, node, field => {
    if (PRIMITIVES.has(field.type)) return (primitiveBody(field.type) as Body)(r, { name: field.type });
    const full = r.stacked.ofField(field, layout.name);
    const declared = full.className ?? field.type;
    let known = isFinal(r, declared, field) ? declared : undefined;
    if (known === undefined) {
      const resolved = r.stacked.resolve(full);
      if (resolved !== undefined && r.dialect.classes.isFinal(resolved) === true)
        known = field.type.startsWith('[') ? arrayOf(resolved) : resolved;
    }
    if (known !== undefined) {
      r.stacked.push(full);
      const value = r.objectOrNull(r.dialect.classOf(known));
      r.stacked.pop();
      return value;
    }
    const ref = r.readClass();
    if (ref === undefined) return NULL_NODE;
    r.stacked.push(full);
    const value = r.object(ref);
    r.stacked.pop();
    return value;
  });
  if (pushed > 0) r.stacked.popVariables(pushed);
  r.stacked.pop();
}

function readRecord(r: KryoReader, layout: KryoLayout, node: KryoObject): void {
  each(r, layout, node, field => {
    if (PRIMITIVES.has(field.type)) return r.object({ name: field.type });
    if (isFinal(r, field.type, field)) return r.objectOrNull(r.dialect.classOf(field.type));
    return r.classAndObject();
  });
}
