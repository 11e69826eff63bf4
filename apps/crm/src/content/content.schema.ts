import {
  clearable,
  described,
  type Fields,
  int,
  languageTag,
  list,
  matching,
  named,
  nullable,
  oneOf,
  optional,
  partial,
  rawText,
  shape,
  tagList,
  tagText,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { publicationStatuses } from './published.ts';
import { MAX_SLUG } from './slugs.ts';

/** The states of an article, post or page; only the actions of publishing change them. */
export const contentStatus = oneOf(...publicationStatuses);

/** The longest body, in characters: about 16,000 words. */
export const MAX_BODY = 100_000;

export const slug = matching(
  /^[a-z0-9]+(-[a-z0-9]+)*$/,
  'lower-case letters a to z and digits, with single hyphens between them',
  MAX_SLUG,
);

export const contentTag = tagText(50);

const title = described(text(200), 'The heading of the text', 'How to reset a password');
const body = described(rawText(MAX_BODY, 0), 'GitHub Flavored Markdown (GFM) without task lists');
const authors = list(uuid(), { max: 20, unique: true });
const tags = tagList(contentTag);

const inputFields = {
  title,
  slug: described(
    optional(slug),
    'The part of URLs that names the text, unique in its language. Default: derived from the title, and again with each new title or language until the text is published. A slug that it had while it was published leads to the record until another one has it.',
    'how-to-reset-a-password',
  ),
  language: described(
    optional(languageTag()),
    'A BCP 47 language tag. Default: the setting `content_language`.',
    'en',
  ),
  summary: clearable(text(1000)),
  body: withDefault(body, ''),
  author_ids: described(optional(authors), 'Default: the caller, if it is a user.'),
  tags: withDefault(tags, []),
  cover_document_id: described(
    clearable(uuid()),
    'A document of the tenant that the caller may see and that is an image',
  ),
};

const translationOf = {
  translation_of: described(
    optional(uuid()),
    'A record of the same kind in another language whose translation this is',
  ),
};

const answerFields = {
  id: uuid(),
  title,
  slug,
  language: described(languageTag(), 'The canonical BCP 47 language tag', 'en'),
  translation_group: described(uuid(), 'Shared by the translations of one text'),
  summary: nullable(text(1000)),
  body,
  body_html: described(
    rawText(Number.MAX_SAFE_INTEGER, 0),
    'The body as sanitised HTML, safe to show on a page',
  ),
  word_count: described(int(0, MAX_BODY), 'The number of words in the body'),
  status: contentStatus,
  published_at: described(nullable(time()), 'When it was published'),
  scheduled_at: described(nullable(time()), 'When it will be published'),
  author_ids: authors,
  tags,
  cover_document_id: nullable(uuid()),
  created_by: described(nullable(uuid()), 'The user who created it; null if a client did'),
};

const times = { created_at: time(), updated_at: time() };

/** The schemas of one kind of content: `further` fields of its input are columns. `title` names the schemas. */
export const contentShapes = <F extends Fields, A extends Fields>(
  schema: string,
  { input, answer }: { readonly input: F; readonly answer: A },
) => ({
  create: named(`${schema}Input`, shape({ ...inputFields, ...input, ...translationOf })),
  update: named(`${schema}Update`, partial(shape({ ...inputFields, ...input }))),
  answer: named(schema, shape({ ...answerFields, ...answer, ...times })),
  /** The body of `POST .../translations`. */
  translation: named(
    `${schema}Translation`,
    shape({ ...inputFields, ...input, language: languageTag() }),
  ),
});
