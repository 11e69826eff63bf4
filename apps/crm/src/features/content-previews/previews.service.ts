import { HttpError, notFound, type ServedFile } from '@tessera/http-kit';
import { clientNotConfigured } from '@tessera/resource-server';
import type { RightsSource } from '../../absent-callers/current-rights.ts';
import { openCover } from '../../content/cover-images.ts';
import type { Database } from '../../database.ts';
import type { Files } from '../../files/files.ts';
import type { Caller, CrmPermission } from '../../http.ts';
import { followLink } from '../../records/expiring-links.ts';
import type { AnswerOf } from '../../records/kind.ts';
import { type TokenFormat, tokenFormat, withNewToken } from '../../records/record-tokens.ts';
import { createRecords, type Versioned } from '../../records/records.ts';
import { blogPost } from '../blog-posts/blog-posts.kind.ts';
import { kbArticle } from '../kb-articles/kb-articles.kind.ts';
import { page } from '../site-pages/pages.kind.ts';
import {
  blogPostPreview,
  kbArticlePreview,
  type PreviewKind,
  type Previews,
  pagePreview,
} from './previews.kind.ts';
import { deleteExpiredPreviews, type FoundPreview, findPreview } from './previews.repository.ts';

type Answer = AnswerOf<typeof blogPost>;

/** A new preview, and the token by which it is served. */
export interface CreatedPreview extends Versioned<AnswerOf<PreviewKind>> {
  readonly token: string;
}

/** The previews of the records of one kind. */
export interface PreviewsOfKind {
  readonly kind: PreviewKind;
  readonly previews: Previews;
  /**
   * Creates a preview. Throws 403 for callers who are not users, 422 for an invalid expiry, and 503 if CRM has no client
   * at identity.
   */
  create(
    caller: Caller,
    recordId: string,
    input: { readonly expires_at?: Date | undefined },
  ): Promise<CreatedPreview>;
}

/** Expiring links to articles, posts and pages, published or not. */
export interface PreviewService {
  readonly articles: PreviewsOfKind;
  readonly posts: PreviewsOfKind;
  readonly pages: PreviewsOfKind;
  /**
   * The record of a preview as it is now. Throws the same 404 for wrong tokens, expired and deleted previews, deleted
   * records, and previews whose creator lost access; and 503 if it is unknown whether the creator still has access.
   */
  open(token: string): Promise<Answer>;
  /** The cover image of the record of a preview. Throws as `open`, and 404 if there is none. */
  cover(token: string): Promise<ServedFile>;
}

/** What `createPreviews` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant' | 'transaction'>;
  readonly files: Files;
  readonly access: RightsSource;
}

interface Served extends PreviewsOfKind {
  readonly tokens: TokenFormat;
  readonly permission: CrmPermission;
  read(caller: Caller, id: string): Promise<Answer>;
}

const noPreview = (): HttpError => notFound('The preview');

export const createPreviews = ({ database, files, access }: Dependencies): PreviewService => {
  const served = (
    kind: PreviewKind,
    records: { get(caller: Caller, id: string): Promise<{ readonly answer: Answer }> },
    { prefix, permission }: { readonly prefix: string; readonly permission: CrmPermission },
  ): Served => {
    const previews = createRecords(kind, database);
    const tokens = tokenFormat(prefix);
    return {
      kind,
      previews,
      tokens,
      permission,
      read: async (caller, id) => (await records.get(caller, id)).answer,
      async create(caller, recordId, { expires_at }) {
        if (!access.canAskRights) throw clientNotConfigured();
        await deleteExpiredPreviews(database.forTenant(caller.tenantId), kind, recordId);
        return withNewToken(tokens, caller.tenantId, (secret) =>
          previews.within(recordId).create(caller, { expires_at, secret }),
        );
      },
    };
  };

  const articles = served(kbArticlePreview, createRecords(kbArticle, database), {
    prefix: 'tcp_article',
    permission: 'kb_articles.view',
  });
  const posts = served(blogPostPreview, createRecords(blogPost, database), {
    prefix: 'tcp_post',
    permission: 'blog.posts.view',
  });
  const pages = served(pagePreview, createRecords(page, database), {
    prefix: 'tcp_page',
    permission: 'pages.view',
  });

  const follow = async (token: string) => {
    for (const { kind, tokens, permission, read } of [articles, posts, pages]) {
      const followed = await followLink<FoundPreview>(
        {
          access,
          tokens,
          permission,
          find: ({ tenantId, id }) => findPreview(database.forTenant(tenantId), kind, id),
        },
        token,
      );
      if (!followed) continue;
      const { caller, link, tenantId } = followed;
      const answer = await read(caller, link.record_id).catch((error: unknown) => {
        throw error instanceof HttpError && error.status === 404 ? noPreview() : error;
      });
      return { answer, db: database.forTenant(tenantId) };
    }
    throw noPreview();
  };

  return {
    articles,
    posts,
    pages,
    open: async (token) => (await follow(token)).answer,
    async cover(token) {
      const { answer, db } = await follow(token);
      const file = await openCover(db, files, answer);
      if (!file) throw notFound('The cover image');
      return Object.assign(file, { cacheControl: 'no-store' });
    },
  };
};
