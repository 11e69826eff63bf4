import type { Out } from '@tessera/fields';
import type { TenantDb } from '../database.ts';
import type { Caller } from '../http.ts';
import type { Filter, Filters } from '../records/filters.ts';
import type { Kind } from '../records/kind.ts';
import type { Passage } from '../records/passages.ts';
import type { RecordRow } from '../records/row.ts';
import type { contentShapes } from './content.schema.ts';

/** The tables of content. */
export type ContentTable = 'kb_articles' | 'blog_posts' | 'pages';

/** The resources of content in the names of permissions. */
export type ContentResource = 'kb_articles' | 'blog.posts' | 'pages';

type None = Record<never, never>;
/** The schemas that every kind of content has. */
export type ContentShapes = ReturnType<typeof contentShapes<None, None>>;

export type ContentInput = Out<ContentShapes['create']>;
export type ContentUpdate = Out<ContentShapes['update']>;
export type ContentAnswer = Out<ContentShapes['answer']>;
export type ContentTranslation = Out<ContentShapes['translation']>;

/** Columns that responses do not show. */
export interface HiddenContent {
  /** Whether a new title makes a new slug. */
  readonly slug_follows_title: boolean;
  /** The body as plain text. */
  readonly body_text: string;
}

/** Columns that lists do not read; a record alone has those that responses show. */
export const omittedFromLists = ['body', 'body_html', 'body_text'] as const;
type OmittedFromLists = (typeof omittedFromLists)[number];

/** The types of a kind of content, with further fields of its input and response, and hidden columns. */
export interface ContentTypes<
  Input extends object = None,
  Answer extends object = None,
  Hidden extends object = None,
> {
  readonly caller: Caller;
  readonly create: ContentInput & Input;
  readonly update: ContentUpdate & Partial<Input>;
  readonly answer: ContentAnswer & Answer;
  readonly item: Omit<ContentAnswer, OmittedFromLists> & { readonly passages: Passage[] } & Answer;
  readonly row: RecordRow & Omit<ContentAnswer & Answer, keyof RecordRow> & HiddenContent & Hidden;
  readonly sort: string;
  readonly filters: Filters;
}

/** What content needs from features. */
export interface ContentLinks {
  /** The filter of lists by tag. */
  readonly tag: Filter<string, 'tags'>;
  /** The messages of the limit of tags. */
  readonly constraints: Kind['constraints'];
  /** The language of records that are created without one. */
  defaultLanguage(db: TenantDb): Promise<string>;
  /** Throws 422 on `cover_document_id` unless the caller sees the document and it is an image. */
  requireCover(db: TenantDb, caller: Caller, documentId: string): Promise<void>;
}
