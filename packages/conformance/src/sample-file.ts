import type { OpenApiDocument, Operation } from './document.ts';
import { sample } from './sample.ts';

/** What the document declares about a request body that is a file. */
export interface FileOptions {
  readonly types: readonly string[];
  readonly maxBytes: number;
}

/** Sample files whose types can be detected from their content. */
export const samples: readonly (readonly [type: string, content: Buffer])[] = [
  ['text/plain', Buffer.from('A sample of text.\n')],
  [
    'image/png',
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
      'base64',
    ),
  ],
  ['application/pdf', Buffer.from('%PDF-1.7\n%%EOF\n')],
  ['application/octet-stream', Buffer.from([0, 1, 2, 3])],
];

/** Whether a media type is one of these types, or matches one of these ranges. */
export const matches = (types: readonly string[], type: string): boolean =>
  types.some((range) => range === '*/*' || range === type || range === type.replace(/\/.*/, '/*'));

/** What the document declares about the file in an operation's body; undefined if it has none. */
export const fileOptionsOf = (operation: Operation): FileOptions | undefined =>
  operation.requestBody?.['x-file'];

/** Whether the file is part of a form. */
export const isForm = (operation: Operation): boolean =>
  operation.requestBody?.content?.['multipart/form-data'] !== undefined;

/** A file that the operation accepts: its type and its content. */
export const sampleFile = (operation: Operation): readonly [type: string, content: Buffer] => {
  const { types } = fileOptionsOf(operation) as FileOptions;
  const sample = samples.find(([type]) => matches(types, type));
  if (!sample)
    throw new Error(`${operation.id}: there is no sample file of type ${types.join(', ')}.`);
  return sample;
};

/**
 * A body with a file that the operation accepts: the bytes, or a form with sample fields and the file. `known`
 * replaces sample fields.
 */
export const bodyWithFile = (
  document: OpenApiDocument,
  operation: Operation,
  [type, content]: readonly [type: string, content: Buffer],
  known: object = {},
): Blob | FormData => {
  const file = new Blob([content], { type });
  const schema = operation.requestBody?.content?.['multipart/form-data']?.schema;
  if (!schema) return file;
  const form = new FormData();
  const fields = { ...(sample(document, schema) as object), ...known };
  for (const [name, value] of Object.entries(fields)) {
    if (name !== 'file' && value !== undefined) form.append(name, String(value));
  }
  form.append('file', file, 'sample');
  return form;
};
