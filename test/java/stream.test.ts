import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CorruptError, StateQueryError, UnsupportedError } from '../../src/errors.js';
import { Cursor } from '../../src/io/cursor.js';
import { javaElements, javaEntries } from '../../src/java/collections.js';
import { javaToJson } from '../../src/java/json.js';
import { javaScalar } from '../../src/java/scalars.js';
import { JavaStreamReader, readJavaObject, readJavaStream } from '../../src/java/stream.js';
import { isJavaInstance, type JavaObject, javaAnnotation, javaField } from '../../src/java/tree.js';

const fixture = (name: string): Buffer => readFileSync(new URL(`fixtures/${name}.bin`, import.meta.url));
const FIXTURES = readdirSync(new URL('fixtures', import.meta.url)).filter(f => f.endsWith('.bin'));
const json = (name: string): string => javaToJson(readJavaObject(new Cursor(fixture(name))));
const hex = (text: string): Cursor => new Cursor(Buffer.from(text.replaceAll(' ', ''), 'hex'));

/** What JavaStreams.java wrote. */
const EXPECTED: Readonly<Record<string, string>> = {
  primitives:
    '{"$class":"JavaStreams$Primitives","b":-5,"c":"€","d":-0.1,"f":1.1,"i":1073741824,"l":-9223372036854775807,"s":-300,"z":true,' +
    '"ints":[1,-2],"none":null,"text":"a\\u0000é😀\\ud800"}',
  derived:
    '{"$class":"JavaStreams$Derived","extra":9,"name":"derived","id":1,"JavaStreams$Base.name":"base",' +
    '"$data":["0000004d","between","00047461696c"]}',
  externalizable: `{"$class":"JavaStreams$Blocks","$data":["000000000000002a${'07'.repeat(3000)}","inside","01"]}`,
  enums: '["RED","GREEN","RED","DAYS"]',
  cycle:
    '{"$class":"JavaStreams$Node","next":{"$class":"JavaStreams$Node","next":{"$ref":"JavaStreams$Node"},"self":{"$ref":"JavaStreams$Node"},' +
    '"v":"y"},"self":{"$ref":"JavaStreams$Node"},"v":"x"}',
  'own-list': '["me",{"$ref":"java.util.ArrayList"}]',
  'declared-fields': '{"$class":"JavaStreams$Declared","answer":42,"who":"deep thought"}',
  proxy: '{"$class":"Proxy(java.lang.Runnable, java.lang.Comparable)","h":{"$class":"JavaStreams$Handler","tag":"h"}}',
  record: '{"$class":"JavaStreams$Point","x":1,"y":-2,"label":"p"}',
  arrays:
    '["01ff",[true,false],["a","€"],[-1,2],[-2147483648],[9223372036854775807],[1.1,"NaN"],[0.1,"-Infinity"],["s",null],[[1],[],null],[]]',
  classes:
    '["java.lang.String","int","[J","JavaStreams$NotSerializable","JavaStreams$Color",{"$class":"java.io.ObjectStreamClass","name":"JavaStreams$Point"}]',
  'long-string': `"${'ab'.repeat(40000)}"`,
  'deep-300': `${'['.repeat(300)}"bottom"${']'.repeat(300)}`,
  scalars:
    '[-1,2,3,4398046511104,1.1,2.5,"x",true,-123456789012345678901234567890,0,"-12.3400","1000",' +
    '"2026-01-31T12:34:56.789Z","2026-01-31","12:34:56.789","2026-01-31T12:34:56.123456789Z","1969-12-31T23:59:59.999Z",' +
    '"01234567-89ab-cdef-8123-456789abcdef","http://h/p?q#f","http://h:81/p?q#f","zh_TW_#Hant","de_DE","","EUR","a+","sb","sf",[0,2,64],' +
    '"a/b",6,7,true]',
  times:
    '["PT1H1M1.5S","PT-1.5S","PT0S","PT-48H","2026-01-31T12:34:56.000000001Z","-1000000000-01-01T00:00:00Z","2026-01-31","-0005-02-03",' +
    '"+12345-06-07","12:34:56.789","12:00:00","12:34:00","01:02:03.000000004","2026-01-31T12:34:56.789",' +
    '"2026-01-31T12:34:56.789+01:00[Europe/Berlin]","2026-01-31T12:34:56.789+02:00","UTC","-01:02:03","Z","12:34:56.789+05:45",' +
    '"2026-01-31T12:34:56.789Z","2026","2026-01","--02-29","P1Y-2M3D","P0D","MONDAY"]',
  collections:
    `[${Array<string>(4).fill('["a","b","c"]').join(',')},["only"],${Array<string>(10).fill('["a","b","c"]').join(',')},["a",null],[],[],["s"],["s"],["n","n"],` +
    `${Array<string>(7).fill('["a","b","c"]').join(',')},["x"],[],["x"],["a",null],["RED","GREEN"],[],[],["k"],["a","b","c"]]`,
  maps:
    '[{"b":2,"a":null,"c":3},{"1":"one"},{"1":"a","2":"b"},{},' +
    '[{"key":{"$class":"JavaStreams$Point","x":1,"y":2,"label":"k"},"value":"v"}],[{"key":null,"value":1}],{"t":1},{"p":"q"},{"c":1},{"s":1},' +
    '{"GREEN":1},{"i":1},{"b":2,"a":null,"c":3},{"b":2,"a":null,"c":3},{},{"k":"v"},{"m":1},{},{"z":1},' +
    '{"$class":"JavaStreams$Counted","hits":3,"loadFactor":0.75,"threshold":12,"$data":["0000001000000001","k",1]}]',
  throwable:
    '{"$class":"java.lang.IllegalStateException","cause":{"$class":"java.lang.RuntimeException","cause":{"$ref":"java.lang.RuntimeException"},' +
    '"detailMessage":"inner","stackTrace":[],"suppressedExceptions":[]},"detailMessage":"outer","stackTrace":[],"suppressedExceptions":[]}',
};

describe('Java object streams', () => {
  it.each(Object.keys(EXPECTED))('reads %s as the JVM wrote it', name => {
    expect(json(name)).toBe(EXPECTED[name]);
  });

  it('has every fixture stated here or in a test of its own', () => {
    const own = ['items', 'exception', 'lambda', 'shared-60'];
    expect(FIXTURES.map(f => f.slice(0, -4)).sort()).toEqual([...Object.keys(EXPECTED), ...own].sort());
  });

  it('stops behind one object and leaves the rest', () => {
    const bytes = fixture('record');
    const c = new Cursor(Buffer.concat([Buffer.from('ff'), bytes, Buffer.from('rest')]), 2);
    expect(isJavaInstance(readJavaObject(c), 'JavaStreams$Point')).toBe(true);
    expect(c.position).toBe(2 + bytes.length);
  });

  it('reads several items with shared handles, blocks and a reset', () => {
    const items = readJavaStream(new Cursor(fixture('items')));
    expect(items.map(i => i.kind)).toEqual(['block', 'string', 'string', 'block', 'string', 'object', 'null', 'block']);
    expect(items[1]).toBe(items[2]);
    expect(items[4]).not.toBe(items[1]);
    expect(items[3]).toEqual({ kind: 'block', bytes: Buffer.concat([Buffer.from([0, 1, 0x78]), Buffer.alloc(2000)]) });
    // the handle of "shared" is taken again inside the unshared object, after the reset
    expect(javaField(items[5] as JavaObject, 'label')).toBe(items[4]);
  });

  it('can be read item by item from a cursor that holds other things as well', () => {
    const c = new Cursor(fixture('items'));
    const reader = new JavaStreamReader(c);
    reader.readHeader();
    expect(javaToJson(reader.readContent())).toBe('"00000005"');
    const at = c.position;
    expect(reader.readContent()).toEqual({ kind: 'string', value: 'shared' });
    expect(c.position).toBe(at + 9);
  });

  it('gives what the writer threw, and goes on behind it with new handles', () => {
    const items = readJavaStream(new Cursor(fixture('exception')));
    expect(items.map(javaToJson)).toEqual([
      '"first"',
      '{"$exception":{"$class":"java.io.IOException","cause":{"$ref":"java.io.IOException"},"detailMessage":"disk full","stackTrace":[],"suppressedExceptions":[]}}',
      '"third"',
    ]);
  });

  it('reads a lambda as its SerializedLambda', () => {
    const lambda = readJavaObject(new Cursor(fixture('lambda'))) as JavaObject;
    expect(lambda.classDesc.name).toBe('java.lang.invoke.SerializedLambda');
    expect(javaToJson(javaField(lambda, 'capturedArgs') ?? lambda)).toBe('[5]');
    expect(javaField(lambda, 'functionalInterfaceMethodName')).toEqual({ kind: 'string', value: 'apply' });
  });

  it('finds fields from the class up, or of one class', () => {
    const object = readJavaObject(new Cursor(fixture('derived'))) as JavaObject;
    expect(javaField(object, 'name')).toEqual({ kind: 'string', value: 'derived' });
    expect(javaField(object, 'name', 'JavaStreams$Base')).toEqual({ kind: 'string', value: 'base' });
    expect(javaField(object, 'nothing')).toBeUndefined();
    expect(isJavaInstance(object, 'JavaStreams$Middle')).toBe(true);
    expect(javaAnnotation(object)).toEqual([]);
    expect(javaAnnotation(object, 'JavaStreams$Base').map(x => x.kind)).toEqual(['block', 'string', 'block']);
  });

  it('takes collections only for what they are', () => {
    const object = readJavaObject(new Cursor(fixture('derived')));
    expect([javaElements(object), javaEntries(object), javaScalar(object)]).toEqual([undefined, undefined, undefined]);
  });
});

describe('broken and hostile Java streams', () => {
  const failure = (c: Cursor): StateQueryError => {
    try {
      readJavaObject(c);
    } catch (e) {
      if (e instanceof StateQueryError) return e;
      throw e;
    }
    throw new Error('was read');
  };

  it.each([
    ['aced0004 70', 'Java stream version is 4, expected 5 (byte 2)'],
    ['aced0005 77 00', 'a block of bytes where a Java object was expected (byte 4)'],
    ['aced0005 71 007e0000', 'reference to handle 0 of 0 (byte 5)'],
    ['aced0005 78', 'byte 78 where a Java object begins (byte 4)'],
    ['aced0005 73 74 0000', 'byte 74 where the class descriptor of object begins (byte 5)'],
    ['aced0005 75 72 00025b49 0000000000000000 02 0000 78 70 7fffffff', 'array length is 2147483647, but only 0 bytes remain (byte 23)'],
    ['aced0005 75 72 00025b51 0000000000000000 02 0000 78 70 00000000', 'array of component type "Q" (byte 23)'],
    ['aced0005 73 72 000141 0000000000000000 02 0001 51 000178', 'field type "Q" in class A (byte 20)'],
    ['aced0005 73 72 000141 0000000000000000 00 0000 78 70', 'class A of an object is not serializable (byte 5)'],
    ['aced0005 7c 7fffffffffffffff', 'length of a long string 9223372036854775807 is out of range (byte 5)'],
    ['aced0005 7b 70', 'the Java stream ends in an exception of its writer (byte 0)'],
    // a class whose superclass is itself
    ['aced0005 73 72 000141 0000000000000000 02 0000 78 71 007e0000', 'class A has more than 64 superclasses (byte 5)'],
    [
      'aced0005 73 72 000141 0000000000000000 04 0000 78 70',
      'externalizable class A of protocol version 1, whose data has no end mark (byte 22)',
    ],
  ])('%s', (bytes, message) => {
    expect(failure(hex(bytes)).describe()).toBe(message);
  });

  it('ends with a typed error at every length it is cut to', () => {
    for (const file of FIXTURES.filter(f => f !== 'long-string.bin')) {
      const bytes = readFileSync(new URL(`fixtures/${file}`, import.meta.url));
      const step = Math.max(1, Math.floor(bytes.length / 400));
      for (let n = 0; n < bytes.length; n += step) {
        if (['items.bin', 'exception.bin'].includes(file)) continue;
        expect(failure(new Cursor(bytes, 0, n))).toBeInstanceOf(CorruptError);
      }
    }
  });

  it('is not taken down by deep nesting, long superclass chains or shared objects', () => {
    const array = '75 72 00135b4c6a6176612e6c616e672e4f626a6563743b 0000000000000000 02 0000 78 70';
    const deep = hex(`aced0005 ${array} 00000001 ${'75 71 007e0000 00000001'.repeat(5000)} 70`);
    expect(failure(deep)).toBeInstanceOf(UnsupportedError);
    expect(failure(hex(`aced0005 73 ${'72 000141 0000000000000000 02 0000 78'.repeat(5000)} 70`))).toBeInstanceOf(UnsupportedError);
    expect(() => json('shared-60')).toThrow(UnsupportedError);
    const nested = readJavaObject(hex(`aced0005 ${array} 00000001 ${'75 71 007e0000 00000001'.repeat(700)} 70`));
    expect(() => javaToJson(nested)).toThrow('Java object nested deeper than 600');
  });

  it('gives a value or a typed error for random and flipped bytes', () => {
    const tryIt = (bytes: Uint8Array): void => {
      try {
        for (const item of readJavaStream(new Cursor(bytes))) javaToJson(item);
      } catch (e) {
        expect(e).toBeInstanceOf(StateQueryError);
      }
    };
    const head = Buffer.from('aced0005', 'hex');
    const tags = fc.array(fc.oneof(fc.integer({ min: 0x70, max: 0x7e }), fc.constantFrom(0, 1, 2, 4, 0x4c, 0x49), fc.nat(255)), {
      maxLength: 200,
    });
    fc.assert(
      fc.property(tags, b => tryIt(Buffer.concat([head, Buffer.from(b)]))),
      { seed: 7, numRuns: 2000 },
    );
    const flips = fc.tuple(
      fc.constantFrom(...FIXTURES.filter(f => f !== 'long-string.bin' && f !== 'shared-60.bin')),
      fc.nat(),
      fc.nat(255),
    );
    fc.assert(
      fc.property(flips, ([file, at, b]) => {
        const bytes = readFileSync(new URL(`fixtures/${file}`, import.meta.url));
        bytes[at % bytes.length] = b;
        tryIt(bytes);
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});

const SHARED = process.env['STATEQUERY_SHARED'] ?? join(process.cwd(), '../shared');
function* files(dir: string): Generator<string> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* files(path);
    else yield path;
  }
}

describe.runIf(existsSync(join(SHARED, 'corpus')))('Java streams inside real snapshots', () => {
  it('reads every stream of the SQL savepoints and serializer snapshots', () => {
    let read = 0;
    const classes = new Set<string>();
    for (const dir of ['corpus/sql', 'corpus/serializers'])
      for (const file of files(join(SHARED, dir))) {
        const bytes = readFileSync(file);
        for (let at = bytes.indexOf('aced0005', 0, 'hex'); at >= 0; at = bytes.indexOf('aced0005', at, 'hex')) {
          const c = new Cursor(bytes, at, bytes.length, { file });
          const value = readJavaObject(c);
          if (value.kind === 'object') classes.add(value.classDesc.name);
          at = c.position;
          read++;
        }
      }
    expect(read).toBeGreaterThan(1000);
    expect(classes).toContain('org.apache.flink.table.types.logical.StructuredType');
  });
});
