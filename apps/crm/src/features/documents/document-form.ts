import { described, type Out, optional, shape, text, uuid } from '@tessera/fields';
import { invalidField } from '@tessera/http-kit';
import { fileName, safeName } from '../../files/file-names.ts';
import type { NewDocument } from './documents.service.ts';

const MAX_TAGS = 50;
const MAX_TAG = 100;

/** The fields of a new document in forms and in the metadata of resumable uploads, where all values are texts. */
export const DocumentForm = shape({
  name: described(optional(fileName()), 'Default: the name of the file'),
  folder_id: described(optional(uuid()), 'The folder; without it, the document is in the root.'),
  description: optional(text(10_000)),
  tags: described(optional(text(6000)), 'Separated by commas', 'offer, 2026'),
});

/** Throws 422 for too many or too long tags. */
const tagsOf = (given = ''): string[] => {
  const tags = [...new Set(given.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
  if (tags.length > MAX_TAGS) {
    throw invalidField('tags', `tags must have at most ${MAX_TAGS} items`);
  }
  if (tags.some((tag) => [...tag].length > MAX_TAG)) {
    throw invalidField('tags', `tags must have at most ${MAX_TAG} characters each`);
  }
  return tags;
};

/** The fields of a new document. Its name defaults to that of the file. */
export const newDocument = (
  { name, folder_id, description, tags }: Out<typeof DocumentForm>,
  uploadedName: string | null,
): NewDocument => ({
  name: name ?? safeName(uploadedName),
  folder_id: folder_id ?? null,
  description: description ?? null,
  tags: tagsOf(tags),
});
