import type { Field, JsonSchema } from '@tessera/fields';

/** The schemas in `components`, by name. */
export type Schemas = Record<string, JsonSchema>;

/** The same keys, each with its value converted. */
export const mapped = <T, U>(
  of: Readonly<Record<string, T>>,
  to: (value: T) => U,
): Record<string, U> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, to(value)]));

/** The results of `hoist`: many operations share the schema of a record or of an error. */
const hoisted = new WeakMap<Schemas, WeakMap<JsonSchema, JsonSchema>>();

/**
 * Moves named schemas to `components` and replaces them by references. Visits only keywords that contain
 * schemas, because an example or a property can also have a member called "title".
 */
export const hoist = (given: JsonSchema, schemas: Schemas): JsonSchema => {
  const known = hoisted.get(schemas) ?? new WeakMap<JsonSchema, JsonSchema>();
  hoisted.set(schemas, known);
  const schema = known.get(given) ?? hoistNew(given, schemas);
  known.set(given, schema);
  return schema;
};

const hoistNew = (given: JsonSchema, schemas: Schemas): JsonSchema => {
  const below = (schema: unknown): unknown =>
    typeof schema === 'object' ? hoist(schema as JsonSchema, schemas) : schema;
  const { title, ...own } = given;
  const { properties, items, additionalProperties, anyOf } = own as Partial<{
    properties: Record<string, unknown>;
    items: unknown;
    additionalProperties: unknown;
    anyOf: unknown[];
  }>;
  const schema = {
    ...own,
    ...(properties && { properties: mapped(properties, below) }),
    ...(items !== undefined && { items: below(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: below(additionalProperties),
    }),
    ...(anyOf && { anyOf: anyOf.map(below) }),
  };
  if (typeof title !== 'string') return schema;
  const known = schemas[title];
  if (known && JSON.stringify(known) !== JSON.stringify(schema)) {
    throw new Error(`Two different schemas are named "${title}".`);
  }
  schemas[title] = schema;
  return { $ref: `#/components/schemas/${title}` };
};

/** The results of `hasLesser`: most schemas have none, and are parts of many others. */
const lesserIn = new WeakMap<object, boolean>();

/** Whether a schema contains one with a lesser shape (`either` of fields). */
const hasLesser = (schema: unknown): boolean => {
  if (typeof schema !== 'object' || schema === null) return false;
  const known = lesserIn.get(schema);
  if (known !== undefined) return known;
  const found = Object.hasOwn(schema, 'x-lesser') || Object.values(schema).some(hasLesser);
  lesserIn.set(schema, found);
  return found;
};

/** A copy of a schema in which each one with a lesser shape is replaced. */
const replaceLesser = (
  schema: unknown,
  replace: (usual: JsonSchema, lesser: JsonSchema) => unknown,
): unknown => {
  if (Array.isArray(schema)) return schema.map((one) => replaceLesser(one, replace));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { 'x-lesser': lesser, ...own } = schema as JsonSchema;
  const usual = mapped(own, (one) => replaceLesser(one, replace));
  return lesser === undefined ? usual : replace(usual, lesser as JsonSchema);
};

/**
 * The content of a body that is described by one schema. Where callers without some permission receive less, `x-lesser` of the
 * content is the schema of both.
 */
export const jsonContent = (
  { json }: Field,
  schemas: Schemas,
  types: readonly string[] = ['application/json'],
) => {
  const replaced = (replace: Parameters<typeof replaceLesser>[1]): JsonSchema =>
    hoist(replaceLesser(json, replace) as JsonSchema, schemas);
  const content = hasLesser(json)
    ? {
        schema: replaced((usual) => usual),
        'x-lesser': replaced((usual, lesser) => ({ anyOf: [usual, lesser] })),
      }
    : { schema: hoist(json, schemas) };
  return { content: Object.fromEntries(types.map((type) => [type, content])) };
};
