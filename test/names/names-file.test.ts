/** Names by hand: what a file of names says, and where it does not fit. */
import { describe, expect, it } from 'vitest';
import { operatorIdOf } from '../../src/checkpoint/uid.js';
import { NameMismatch, nameType, uniqueNames } from '../../src/names/name-tree.js';
import { namesOfFile, parseNamesFile } from '../../src/names/names-file.js';
import { BIGINT, list, map, sqlTypeText, struct, VARCHAR } from '../../src/types.js';

const TEXT = `
operators:
  word-count:
    name: count words
    key: [word]
    states:
      accState: [sum, count]
      records:
        map_key: [id]
        value: [{record: [id, name]}, ~]
      profile: {value: {f0: id}}
`;
const OPERATOR = { id: operatorIdOf('word-count'), uid: null, name: null };

async function namingOf(text: string): Promise<(state: string) => ReturnType<typeof nameType>[]> {
  const names = namesOfFile(await parseNamesFile(text, 'names.yaml'), [OPERATOR], () => undefined);
  const type = list(struct(['f0', struct(['f0', BIGINT], ['f1', VARCHAR])], ['f1', BIGINT]));
  return state =>
    (names.get(OPERATOR.id)?.namings ?? []).flatMap(n =>
      n.namesOf({ name: state, kind: 'keyed' }).map(s => (s.value === undefined ? type : nameType(type, s.value, 'value'))),
    );
}
const text = (type: ReturnType<typeof nameType>): string => (type instanceof NameMismatch ? type.reason : sqlTypeText(type));

describe('a file of names', () => {
  it('gives operators and columns their names', async () => {
    const names = namesOfFile(await parseNamesFile(TEXT, 'names.yaml'), [OPERATOR], () => undefined);
    expect(names.get(OPERATOR.id)).toMatchObject({ uid: 'word-count', name: 'count words', source: 'file' });
    const naming = await namingOf(TEXT);
    expect(naming('accState').map(text)).toEqual(['STRUCT(sum STRUCT(f0 BIGINT, f1 VARCHAR), count BIGINT)[]']);
    expect(naming('records').map(text)).toEqual(['STRUCT(record STRUCT(id BIGINT, name VARCHAR), f1 BIGINT)[]']);
    expect(naming('profile').map(text)).toEqual(['STRUCT(id STRUCT(f0 BIGINT, f1 VARCHAR), f1 BIGINT)[]']);
    expect(naming('other').map(text)).toEqual(['STRUCT(f0 STRUCT(f0 BIGINT, f1 VARCHAR), f1 BIGINT)[]']);
  });

  it('may be JSON', async () => {
    const json = JSON.stringify({ operators: { [OPERATOR.id]: { states: { s: ['a', 'b'] } } } });
    expect((await namingOf(json))('s').map(text)).toEqual(['STRUCT(a STRUCT(f0 BIGINT, f1 VARCHAR), b BIGINT)[]']);
  });

  it('does not fit where columns are not there', async () => {
    const naming = await namingOf('operators: {word-count: {states: {a: [x], b: {value: {f7: x}}}}}');
    expect(naming('a').map(text)).toEqual(['value has 2 columns, expected 1']);
    expect(naming('b').map(text)).toEqual(['value has no column f7']);
  });

  it('says which operators are not in the snapshot', async () => {
    const unknown: string[] = [];
    const file = await parseNamesFile('operators:\n  a: {}\n  b: {}\n', 'names.yaml');
    namesOfFile(file, [OPERATOR], (key, line) => void unknown.push(`${line} ${key}`));
    expect(unknown).toEqual(['2 a', '3 b']);
  });

  it.each([
    ['operators:\n  a:\n    nme: x\n', 'line 3: operator a has no nme'],
    ['- a\n', 'line 1: the file is no map'],
    ['{}', 'line 1: there is no map operators'],
    ['operators:\n  a:\n    states:\n      s: 7\n', 'line 4: state s is no map'],
    ['operators:\n  a:\n    states:\n      s: {values: [a]}\n', 'line 4: state s has no part values'],
    ['operators:\n  a:\n    key: [[x]]\n', 'line 3: a column of key of a is no text'],
    ['operators:\n  a: {}\n  a: {}\n', 'line 3: Map keys must be unique'],
  ])('with an error: %j', async (wrong, message) => {
    await expect(parseNamesFile(wrong, 'names.yaml')).rejects.toThrow(message);
  });
});

describe('names', () => {
  it('are unique without regard to case', () => {
    expect(uniqueNames(['count', 'Count', 'count_1', 'count'])).toEqual(['count', 'Count_2', 'count_1', 'count_3']);
  });
  it('of a map reach its values alone', () => {
    const type = map(struct(['f0', BIGINT]), struct(['f0', BIGINT]));
    const named = nameType(type, { kind: 'inside', names: { kind: 'row', columns: [{ name: 'a' }] } }, 'value');
    expect(text(named)).toBe('MAP(STRUCT(f0 BIGINT), STRUCT(a BIGINT))');
  });
});
