import {
  described,
  type Field,
  named,
  optional,
  type Shape,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import type { CrmPermission } from '../../http.ts';
import { hiddenLinkColumns, type Lifetime, newLink } from '../../records/expiring-links.ts';
import { declareKind, type Kind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';
import { hidden } from '../../records/row.ts';
import { blogPost } from '../blog-posts/blog-posts.kind.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { page } from '../site-pages/pages.kind.ts';

/** How long previews work. */
const lifetime: Lifetime = { defaultDays: 7, maxDays: 90 };

/** A new preview with the secret of its token, of which only the hash is stored. */
interface NewPreview {
  readonly expires_at?: Date | undefined;
  readonly secret: string;
}

export const PreviewInput = named(
  'PreviewInput',
  shape({
    expires_at: described(
      optional(time()),
      `Default: in ${lifetime.defaultDays} days. At most ${lifetime.maxDays} days from now.`,
    ),
  }),
);

export const Preview = named(
  'Preview',
  shape({
    id: uuid(),
    expires_at: time(),
    user_id: described(
      uuid(),
      'The user who created the preview. It works only while they may see the record.',
    ),
    created_at: time(),
  }),
);

interface Previewed {
  readonly table: string;
  readonly column: string;
  readonly resource: 'kb_articles' | 'blog.posts' | 'pages';
}

/** A link by which anybody can read a record until it expires, published or not. It cannot be updated. */
const previewOf = (content: Kind, { table, column, resource }: Previewed) => {
  const see: CrmPermission = `${resource}.view`;
  const change: CrmPermission = `${resource}.update`;
  return declareKind({
    table,
    path: '/previews',
    name: 'preview',
    permissions: { list: see, view: see, create: change, update: change, delete: change },
    create: PreviewInput as Shape as Shape & Field<NewPreview>,
    update: shape({}),
    answer: Preview,
    hidden: { [column]: hidden<string>(), ...hiddenLinkColumns },
    inputOnly: ['secret'],
    parent: { kind: content, column },
    maximum: 1000,
    counted: true,
    sort: { created_at: 'created_at', expires_at: 'expires_at' },
    defaultSort: '-created_at',
    filters: {},
    deletion: 'permanent',
    rules: { create: (input, { caller }) => newLink(caller, input, lifetime) },
  });
};

export const kbArticlePreview = previewOf(kbArticle, {
  table: 'kb_article_previews',
  column: 'kb_article_id',
  resource: 'kb_articles',
});
export const blogPostPreview = previewOf(blogPost, {
  table: 'blog_post_previews',
  column: 'blog_post_id',
  resource: 'blog.posts',
});
export const pagePreview = previewOf(page, {
  table: 'page_previews',
  column: 'page_id',
  resource: 'pages',
});

export type PreviewKind = typeof kbArticlePreview;
export type Previews = RecordsOf<PreviewKind>;
