import { type JsonSchema, type OpenApiDocument, resolve } from '../document.ts';
import { type Path, replaceAt } from '../paths.ts';
import { sample } from '../sample.ts';

/** A JSON body that is as large as the service reads. */
export interface WorstBody {
  readonly what: string;
  readonly text: string;
}

/** A valid value and its schema, somewhere in a body. */
interface Place {
  readonly path: Path;
  readonly schema: JsonSchema;
}

const DEPTH = 4;

/** The lists and texts in a body, the outer ones first. */
const placesOf = (
  document: OpenApiDocument,
  given: JsonSchema,
  path: Path = [],
): readonly Place[] => {
  if (path.length > DEPTH) return [];
  const schema = resolve(document, given);
  const own: Place[] = [{ path, schema }];
  if (schema.anyOf?.[0]) return placesOf(document, schema.anyOf[0], path);
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    own.push(...placesOf(document, inner, [...path, key]));
  }
  if (schema.items) own.push(...placesOf(document, schema.items, [...path, 0]));
  return own;
};

const isOf =
  (type: string) =>
  ({ schema }: Place): boolean =>
    [schema.type].flat().includes(type);

/** As many copies as there is room for; each is one element. */
const filled = (element: unknown, bytes: number): readonly unknown[] => {
  const { length } = JSON.stringify(element) ?? 'null';
  return Array.from({ length: Math.max(1, Math.floor(bytes / (length + 1))) }, () => element);
};

/** Texts that parsers, patterns and renderers find hard, to be repeated. */
const HARD = ['\n', 'a@', '[x](y) ', '<a ', '🇦́'];

const repeated = (part: string, length: number): string =>
  part.repeat(Math.ceil(length / part.length)).slice(0, length);

/**
 * Bodies of `maxBytes` at most, each the worst of its kind: deep nesting, many keys, many elements that are right or wrong, and
 * the longest texts. `valid` is one that the operation accepts.
 */
export const worstBodies = (
  document: OpenApiDocument,
  schema: JsonSchema,
  valid: object,
  maxBytes: number,
): readonly WorstBody[] => {
  const room = maxBytes - JSON.stringify(valid).length - 100;
  const places = placesOf(document, schema);
  const lists = places.filter(isOf('array'));
  const texts = places.filter(isOf('string')).filter(({ schema: of }) => !of.format && !of.enum);
  const [key = 'key'] = Object.keys(valid);
  const bodyOf = (path: Path, value: unknown): string =>
    JSON.stringify(replaceAt(valid, path, value));
  const depth = Math.floor(room / 2);
  const keys = Math.floor(room / 12);
  const longest = [...texts].sort(
    (a, b) => (b.schema.maxLength ?? maxBytes) - (a.schema.maxLength ?? maxBytes),
  )[0];
  return [
    {
      what: 'deep nesting',
      text: `{${JSON.stringify(key)}:${'['.repeat(depth)}${']'.repeat(depth)}}`,
    },
    {
      what: 'many keys',
      text: `{${Array.from({ length: keys }, (_, at) => `"k${at}":0`).join()}}`,
    },
    { what: 'a list instead of an object', text: JSON.stringify(filled({}, room)) },
    ...lists.flatMap(({ path, schema: of }) => [
      {
        what: `many elements of ${path.join('.')}`,
        text: bodyOf(path, filled(sample(document, of.items ?? {}), room)),
      },
      { what: `many wrong elements of ${path.join('.')}`, text: bodyOf(path, filled({}, room)) },
    ]),
    ...(longest
      ? HARD.map((part) => {
          const bytes = Buffer.byteLength(JSON.stringify(part)) - 2;
          const fitting = Math.floor(room / bytes) * part.length;
          const length = Math.min(longest.schema.maxLength ?? fitting, fitting);
          return {
            what: `${longest.path.join('.')} of ${length} × ${JSON.stringify(part)}`,
            text: bodyOf(longest.path, repeated(part, length)),
          };
        })
      : []),
  ];
};
