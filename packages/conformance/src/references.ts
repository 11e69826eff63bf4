import {
  bodySchemaOf,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  resolve,
} from './document.ts';
import type { Path } from './paths.ts';
import { sample } from './sample.ts';

/** A field of a body that refers to a record. */
export interface Reference {
  /** Where the field is in the body: `['items', 0, 'contact_id']`. */
  readonly path: Path;
  /** The collection of the record: `contacts`. */
  readonly collection: string;
  /** Whether a body without the field, or without this element of a list, is valid. */
  readonly isOptional: boolean;
}

/** The references in a value that is valid for a schema, including those in nested objects and lists. */
const referencesInValue = (
  document: OpenApiDocument,
  given: JsonSchema,
  value: unknown,
  path: Path = [],
  isOptional = false,
): Reference[] => {
  const schema = resolve(document, given);
  const collection = schema['x-reference'];
  if (collection !== undefined) return [{ path, collection, isOptional }];
  if (schema.anyOf) {
    // The value is a sample of the first option; of the others, only references can be null.
    return schema.anyOf
      .map((option) => referencesInValue(document, option, value, path, isOptional))
      .reduce((first, others) => (first.length > 0 ? first : others), []);
  }
  if (schema.items && Array.isArray(value)) {
    const { items, minItems = 0 } = schema;
    return value.flatMap((element, index) =>
      referencesInValue(document, items, element, [...path, index], index >= minItems),
    );
  }
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    referencesInValue(
      document,
      property,
      (value as Record<string, unknown> | undefined)?.[key],
      [...path, key],
      !schema.required?.includes(key),
    ),
  );
};

/** The references in a body of an operation. */
export const referencesIn = (
  document: OpenApiDocument,
  operation: Operation,
  body?: unknown,
): Reference[] => {
  const schema = bodySchemaOf(operation);
  return schema ? referencesInValue(document, schema, body ?? sample(document, schema)) : [];
};

/** The operation that creates a record of a collection, such as `POST .../companies`. */
export const creationOf = (document: OpenApiDocument, collection: string): Operation => {
  const create = operationsOf(document).find(
    ({ method, path }) => method === 'POST' && path.endsWith(`/${collection}`),
  );
  if (!create) throw new Error(`No operation creates a record for references to ${collection}.`);
  return create;
};
