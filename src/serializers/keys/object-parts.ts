/** The members of a JSON object as their texts, so that numbers keep every digit. */

export interface ObjectPart {
  readonly name: string;
  readonly json: string;
}

/** Members in order, for an object as our own writer makes one (no space between tokens); undefined when it is none. */
export function objectParts(json: string): readonly ObjectPart[] | undefined {
  const parts: ObjectPart[] = [];
  if (json === '{}') return parts;
  if (!json.startsWith('{') || !json.endsWith('}')) return undefined;
  let at = 1;
  while (at < json.length) {
    const nameEnd = stringEnd(json, at);
    if (nameEnd === undefined || json[nameEnd] !== ':') return undefined;
    const end = valueEnd(json, nameEnd + 1);
    if (end === undefined) return undefined;
    try {
      parts.push({ name: JSON.parse(json.slice(at, nameEnd)) as string, json: json.slice(nameEnd + 1, end) });
    } catch {
      return undefined;
    }
    if (json[end] === '}') return end === json.length - 1 ? parts : undefined;
    at = end + 1;
  }
  return undefined;
}

/** The position behind a string that begins at `at`. */
function stringEnd(json: string, at: number): number | undefined {
  if (json[at] !== '"') return undefined;
  for (let i = at + 1; i < json.length; i++) {
    if (json[i] === '\\') i++;
    else if (json[i] === '"') return i + 1;
  }
  return undefined;
}

/** The position of the comma or brace behind a value. */
function valueEnd(json: string, from: number): number | undefined {
  let depth = 0;
  for (let i = from; i < json.length; i++) {
    const c = json[i];
    if (c === '"') {
      const end = stringEnd(json, i);
      if (end === undefined) return undefined;
      i = end - 1;
    } else if (depth === 0 && (c === ',' || c === '}')) return i > from ? i : undefined;
    else if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
  }
  return undefined;
}
