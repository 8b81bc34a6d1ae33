/**
 * Choices (Either, Try) in results: a STRUCT of the very type of a choice that the statement reads is one, wherever it stands. The
 * engine knows nothing of choices, and JSON shows only the field that is there (contract §3).
 */
import { type SqlType, sqlTypeText } from '../types.js';

/** The texts of the choices in some types. */
export function choicesIn(types: Iterable<SqlType>): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (type: SqlType): void => {
    if (type.kind === 'STRUCT') {
      if (type.choice) found.add(sqlTypeText(type));
      for (const field of type.fields) visit(field.type);
    } else if (type.kind === 'LIST') visit(type.element);
    else if (type.kind === 'MAP') {
      visit(type.key);
      visit(type.value);
    }
  };
  for (const type of types) visit(type);
  return found;
}

/** The type with its choices marked. */
export function withChoices(type: SqlType, choices: ReadonlySet<string>): SqlType {
  if (choices.size === 0) return type;
  switch (type.kind) {
    case 'STRUCT': {
      const fields = type.fields.map(f => ({ name: f.name, type: withChoices(f.type, choices) }));
      return choices.has(sqlTypeText(type)) ? { kind: 'STRUCT', fields, choice: true } : { kind: 'STRUCT', fields };
    }
    case 'LIST':
      return { kind: 'LIST', element: withChoices(type.element, choices) };
    case 'MAP':
      return { kind: 'MAP', key: withChoices(type.key, choices), value: withChoices(type.value, choices) };
    default:
      return type;
  }
}
