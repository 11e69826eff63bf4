import {
  caseFolded,
  described,
  type Out,
  optional,
  shape,
  text,
  uuid,
  validate,
} from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';
import { fileName, safeName } from '../../files/file-names.ts';
import { documentTags } from './documents.kind.ts';
import type { NewDocument } from './documents.service.ts';

/** The fields of a new document in forms and in the metadata of resumable uploads, where all values are texts. */
export const DocumentForm = shape({
  name: described(optional(fileName()), 'Default: the name of the file'),
  folder_id: described(optional(uuid()), 'The folder; without it, the document is in the root.'),
  description: optional(text(10_000)),
  tags: described(
    optional(text(6000)),
    'Separated by commas, or a list of texts in JSON',
    'offer, 2026',
  ),
});

/** The tags in a text; a text that only looks like JSON is a list of tags with brackets. */
const listed = (given: string): unknown => {
  if (given.startsWith('[')) {
    try {
      return JSON.parse(given);
    } catch {
      // It is read as it is.
    }
  }
  // People repeat tags in forms; the first one counts.
  const tags = new Map<string, string>();
  for (const part of given.split(',')) {
    const tag = part.trim();
    const key = caseFolded(tag);
    if (tag !== '' && !tags.has(key)) tags.set(key, tag);
  }
  return [...tags.values()];
};

/** Throws 422 for tags that no document can have. */
const tagsOf = (given = ''): string[] => {
  const checked = validate(shape({ tags: documentTags }), { tags: listed(given) });
  if (!checked.ok) throw validationFailed(checked.errors);
  return checked.value.tags;
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
