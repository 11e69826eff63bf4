import { type Out, readTexts, validate } from '@tessera/fields';
import { mediaTypeOf, validationFailed } from '@tessera/http-kit';
import { DocumentForm, newDocument } from '../document-form.ts';
import type { NewDocument } from '../documents.service.ts';
import type { UploadMetadata } from './uploads.repository.ts';

/** Metadata of the file itself that tus clients send: its name, type and relative path. */
const FILE = ['filename', 'filetype', 'type', 'relativePath'];

const textsOf = (metadata: UploadMetadata): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata).flatMap(([name, value]) =>
      value === null || value === '' || FILE.includes(name) ? [] : [[name, value]],
    ),
  );

/** The fields of the new document that an upload describes. Throws 422 for unknown and invalid ones. */
export const documentOf = (metadata: UploadMetadata): NewDocument => {
  const result = validate(
    DocumentForm,
    readTexts(DocumentForm, textsOf(metadata)),
    'Upload-Metadata',
  );
  if (!result.ok) throw validationFailed(result.errors);
  return newDocument(result.value as Out<typeof DocumentForm>, metadata.filename ?? null);
};

/** Throws 422 for fields of a document: a version has none. */
export const refuseFields = (metadata: UploadMetadata): void => {
  const names = Object.keys(metadata).filter((name) => !FILE.includes(name));
  if (names.length === 0) return;
  throw validationFailed(Object.fromEntries(names.map((name) => [name, [`${name} is not known`]])));
};

/** The media type that the client declared for the file. */
export const declaredType = ({ filetype, type }: UploadMetadata): string =>
  mediaTypeOf(filetype || type || '');
