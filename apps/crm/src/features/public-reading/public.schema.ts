import {
  bool,
  described,
  int,
  languageTag,
  list,
  named,
  nullable,
  type Out,
  optional,
  rawText,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import { pageFields } from '../../records/list-query.ts';
import { MAX_TREE } from './tree.repository.ts';

const url = text(4000);

/** The slug of a record, in paths. */
export const slugParam = rawText(500);

export const languageField = described(
  optional(languageTag()),
  'The language (BCP 47). Default: the content language of the tenant.',
);

export const ByLanguage = shape({ language: languageField });

const tag = text(100);

export const PublicListQuery = shape({
  ...pageFields,
  language: languageField,
  tag: optional(tag),
  search: described(
    optional(rawText(200, 0)),
    'Matches anywhere in the text, regardless of case and diacritics.',
  ),
});

const listed = {
  id: uuid(),
  title: text(1000),
  slug: text(500),
  language: text(60),
  summary: nullable(text(10_000)),
  tags: list(tag),
  published_at: time(),
  updated_at: time(),
  url: described(url, 'The address for people, on the site of the tenant if it has its own'),
  path: described(url, 'The path in this API'),
  cover_url: described(nullable(url), 'The address of the cover image'),
} as const;

/** A published record in a list. */
export const PublishedItem = named('PublishedItem', shape(listed));

const Translation = named(
  'PublishedTranslation',
  shape({ language: text(60), slug: text(500), url, path: url }),
);

export const bodyHtml = described(
  rawText(4_000_000, 0),
  'Sanitised HTML without scripts, styles and forms',
);

/** A published record. */
export const PublishedRecord = named(
  'PublishedRecord',
  shape({
    ...listed,
    body_html: bodyHtml,
    translations: described(list(Translation), 'The published records in other languages'),
  }),
);

const PageTreeItem = named(
  'PublishedPageTreeItem',
  shape({
    id: uuid(),
    parent_id: described(
      nullable(uuid()),
      'Null at the top, and for pages whose parent is not published',
    ),
    depth: int(0, 5000),
    title: text(1000),
    slug: text(500),
    url,
    path: url,
  }),
);

export const PageTree = named(
  'PublishedPageTree',
  shape({
    data: described(
      list(PageTreeItem, { max: MAX_TREE }),
      'Pages in the order of the tree: each is followed by those below it.',
    ),
    is_complete: described(
      bool(),
      'Whether these are all published pages of the language; the list of pages has the others',
    ),
  }),
);

export type PageTreeItem = Out<typeof PageTreeItem>;
export type PublishedItem = Out<typeof PublishedItem>;
export type PublishedRecord = Out<typeof PublishedRecord>;
