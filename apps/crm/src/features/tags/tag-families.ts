import type { CrmPermission } from '../../http.ts';

/** The tables whose records have tags. */
export type TaggedTable =
  | 'contacts'
  | 'companies'
  | 'documents'
  | 'kb_articles'
  | 'blog_posts'
  | 'pages';

type Several = readonly [CrmPermission, ...CrmPermission[]];

/** Kinds of records that share their tags: a tag is renamed in all of them. */
export interface TagFamily<T extends TaggedTable = TaggedTable> {
  readonly tables: readonly T[];
  /** Names the schemas: `ContentTag`. */
  readonly schema: string;
  readonly path: string;
  /** The export; not below `path`, where it would be the path of a tag. */
  readonly exportPath: string;
  /** One tag and several of them, in texts. */
  readonly words: readonly [one: string, several: string];
  /** The records, in texts. */
  readonly records: string;
  /** What callers need; the tags belong to all of the kinds, so it is the permissions of each. */
  readonly permissions: {
    readonly list: Several;
    readonly export: Several;
    readonly change: Several;
  };
}

/** The tags of contacts and companies. */
export const contactTags: TagFamily<'contacts' | 'companies'> = {
  tables: ['contacts', 'companies'],
  schema: 'Tag',
  path: '/tags',
  exportPath: '/tag-export',
  words: ['tag', 'tags'],
  records: 'contacts and companies',
  permissions: {
    list: ['contacts.list', 'companies.list'],
    export: ['contacts.export', 'companies.export'],
    change: ['contacts.update', 'companies.update'],
  },
};

/** The tags of articles, posts and pages. */
export const contentTags: TagFamily<'kb_articles' | 'blog_posts' | 'pages'> = {
  tables: ['kb_articles', 'blog_posts', 'pages'],
  schema: 'ContentTag',
  path: '/content-tags',
  exportPath: '/content-tag-export',
  words: ['content tag', 'content tags'],
  records: 'articles, posts and pages',
  permissions: {
    list: ['kb_articles.list', 'blog.posts.list', 'pages.list'],
    export: ['kb_articles.export', 'blog.posts.export', 'pages.export'],
    // Readers see the tags of what is published.
    change: [
      'kb_articles.update',
      'kb_articles.publish',
      'blog.posts.update',
      'blog.posts.publish',
      'pages.update',
      'pages.publish',
    ],
  },
};
