import {
  bodySchemaOf,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  resolve,
} from './document.ts';

/** The collection that a field refers to, including nullable fields. */
const referenceOf = (document: OpenApiDocument, given: JsonSchema): string | undefined => {
  const schema = resolve(document, given);
  if (schema['x-reference'] !== undefined) return schema['x-reference'];
  return schema.anyOf?.map((option) => referenceOf(document, option)).find(Boolean);
};

/** The reference fields in an operation's body: field path -> collection. */
export const referencesIn = (
  document: OpenApiDocument,
  operation: Operation,
): readonly (readonly [field: string, collection: string])[] => {
  const schema = bodySchemaOf(operation);
  const properties = schema ? (resolve(document, schema).properties ?? {}) : {};
  return Object.entries(properties).flatMap(([field, property]) => {
    const collection = referenceOf(document, property);
    return collection === undefined ? [] : [[field, collection] as const];
  });
};

/** The operation that creates a record of a collection, such as `POST .../companies`. */
export const creationOf = (document: OpenApiDocument, collection: string): Operation => {
  const create = operationsOf(document).find(
    ({ method, path }) => method === 'POST' && path.endsWith(`/${collection}`),
  );
  if (!create) throw new Error(`No operation creates what the reference to ${collection} means.`);
  return create;
};
