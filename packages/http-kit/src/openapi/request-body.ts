import type { JsonSchema, Shape } from '@tessera/fields';
import { type FileBody, isFileBody } from '../files/file-body.ts';
import { type Binary, isBinary, type RequestBody, type RouteEntry } from '../route.ts';
import { hoist, jsonContent, type Schemas } from './schemas.ts';

/**
 * The schema of a form with a file. The file itself has no schema, since OpenAPI 3.1 describes bytes only by
 * their media type.
 */
const formSchema = (fields: Shape, schemas: Schemas): JsonSchema => {
  const { properties, required, ...rest } = fields.json as {
    readonly properties: object;
    readonly required: readonly string[];
  };
  return hoist(
    { ...rest, properties: { ...properties, file: {} }, required: [...required, 'file'] },
    schemas,
  );
};

/**
 * The content of a body of bytes. Its empty schema says nothing in OpenAPI 3.1, but generators of clients fail without
 * one.
 */
const bytesOf = (types: readonly string[]): object =>
  Object.fromEntries(types.map((type) => [type, { schema: {} }]));

const bytesBody = ({ types, maxBytes }: Binary): object => ({
  required: true,
  description: `At most ${maxBytes} bytes.`,
  content: bytesOf(types),
});

const fileRequestBody = (
  { types, maxBytes, fields, isPart }: FileBody['file'],
  schemas: Schemas,
): object => {
  if (isPart) return bytesBody({ types, maxBytes });
  const description = `A file of at most ${maxBytes} bytes. Its type is detected from its content.`;
  const limits = { 'x-file': { types, maxBytes } };
  if (!fields) {
    return { required: true, description, content: bytesOf(types), ...limits };
  }
  const contentType = types.join(', ');
  const form = { schema: formSchema(fields, schemas), encoding: { file: { contentType } } };
  return { required: true, description, content: { 'multipart/form-data': form }, ...limits };
};

/** The request body of a route. */
export const requestBodyOf = (
  { body, bodyTypes }: RouteEntry & { readonly body: RequestBody },
  schemas: Schemas,
): object => {
  if (isFileBody(body)) return fileRequestBody(body.file, schemas);
  if (isBinary(body)) return bytesBody(body);
  return { required: !body.absent, ...jsonContent(body, schemas, bodyTypes) };
};
