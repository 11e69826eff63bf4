import { type JsonSchema, type OpenApiDocument, resolve } from './document.ts';
import { type Path, replaceAt } from './paths.ts';

/** A valid body with one invalid or unusual change. */
export interface InvalidBody {
  readonly what: string;
  /** The path of the changed field: `addresses.0.city`. */
  readonly field: string;
  readonly body: unknown;
  /** Whether the body must be rejected whatever the schema says, because the text cannot be stored. */
  readonly alwaysRefused: boolean;
}

const without = (body: unknown, path: Path): unknown =>
  JSON.parse(JSON.stringify(replaceAt(body, path, undefined)));

const odd: readonly (readonly [what: string, value: unknown])[] = [
  ['a number', 7],
  ['a giant number', 1e308],
  ['a negative number', -1],
  ['a boolean', true],
  ['null', null],
  ['an empty text', ''],
  ['a blank text', '   '],
  ['a giant text', 'x'.repeat(20_000)],
  ['a text with an accent and an emoji', 'Árvíztűrő 😀'],
  ['a day that does not exist', '2020-02-31T00:00:00.000Z'],
  ['an empty list', []],
  ['a giant list', Array.from({ length: 1000 }, () => 'x')],
  ['an empty object', {}],
  ['an object where a text belongs', { $gt: '' }],
];

const unstorable: readonly (readonly [what: string, value: unknown])[] = [
  ['NUL', 'a\u0000b'],
  ['a lone surrogate', 'a\ud800b'],
];

/** All variants of a valid body with one changed field, including nested fields. */
export const invalidBodies = (
  document: OpenApiDocument,
  given: JsonSchema,
  valid: unknown,
): InvalidBody[] => {
  const all: InvalidBody[] = [];
  const walk = (schemaOrRef: JsonSchema, path: Path): void => {
    const schema = resolve(document, schemaOrRef);
    const field = path.join('.') || 'body';
    const add = (what: string, body: unknown, at = field, alwaysRefused = false): void => {
      all.push({ what: `${at}: ${what}`, field: at, body, alwaysRefused });
    };
    for (const [what, value] of odd) add(what, replaceAt(valid, path, value));
    if ([schema.type].flat().includes('string')) {
      for (const [what, value] of unstorable) add(what, replaceAt(valid, path, value), field, true);
    }
    if (path.length > 0 && typeof path.at(-1) === 'string') add('missing', without(valid, path));
    for (const [key, inner] of Object.entries(schema.properties ?? {})) walk(inner, [...path, key]);
    if (schema.properties) {
      const extra = [...path, 'surprise'];
      add('an extra field', replaceAt(valid, extra, 1), extra.join('.'));
    }
    if (schema.items) walk(schema.items, [...path, 0]);
  };
  walk(given, []);
  return all;
};
