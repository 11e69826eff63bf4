import { type HttpError, notFound, type ServedFile } from '@tessera/http-kit';
import { openCover } from '../../content/cover-images.ts';
import type { Files } from '../../files/files.ts';
import type { Page } from '../../records/listing.ts';
import { CACHE_CONTROL } from './caching.ts';
import type {
  PostVersion,
  PublishedRow,
  PublishedText,
  Translation,
} from './content.repository.ts';
import {
  findMoved,
  findNewest,
  findNewestVersions,
  findPublished,
  findTranslations,
  listPublished,
  type PublicListing,
} from './content.repository.ts';
import { type PublicKind, pages, posts } from './kinds.ts';
import type { PageTreeItem, PublishedItem, PublishedRecord } from './public.schema.ts';
import type { Site, Sites } from './sites.service.ts';
import { MAX_TREE, readTree } from './tree.repository.ts';
import { type SiteUrls, urlsOf } from './urls.ts';

/** Which record is requested: its slug, and its language unless that is the tenant's content language. */
export interface Address {
  readonly tenant: string;
  readonly slug: string;
  readonly language?: string | undefined;
}

/** What a request for a record finds: the record, or where it has moved to. */
export type Found<T> = { readonly value: T } | { readonly movedTo: string };

/** The newest posts of a language. */
export interface NewestPosts {
  readonly site: Site;
  readonly urls: SiteUrls;
  readonly language: string;
  /** Changes with each of the posts. */
  readonly versions: readonly PostVersion[];
  /** Reads the posts with their texts, until these have `FEED_BYTES` together; longer ones than `POST_BYTES` without. */
  read(): Promise<readonly (PublishedItem & { readonly body_html: string | null })[]>;
}

/** Reads what tenants have published, for everybody. Each method throws 404 if the tenant has no public site. */
export interface Reading {
  readonly sites: Sites;
  list(
    tenant: string,
    kind: PublicKind,
    listing: Omit<PublicListing, 'language'> & { readonly language?: string | undefined },
  ): Promise<Page<PublishedRow> & { readonly items: PublishedItem[] }>;
  /** A published record, or the path of the record that had the slug before. Throws 404. */
  get(kind: PublicKind, address: Address): Promise<Found<PublishedRecord>>;
  /** The cover image of a published record. Throws 404. */
  cover(kind: PublicKind, address: Address): Promise<Found<ServedFile>>;
  /** The published pages of a language in the order of their tree; the first `MAX_TREE` if there are more. */
  tree(
    tenant: string,
    language?: string,
  ): Promise<{ readonly items: PageTreeItem[]; readonly isComplete: boolean }>;
  /** The newest posts of a language. */
  newestPosts(tenant: string, language?: string): Promise<NewestPosts>;
}

/** The number of posts in a feed. */
const FEED_POSTS = 30;
/** The most bytes of HTML that the posts of a feed have together, and each of them. Markup in it is longer in XML. */
export const FEED_BYTES = 500_000;
/** Other requests have a turn after each post. */
export const POST_BYTES = 150_000;

const notPublished = ({ name }: PublicKind): HttpError => notFound(`The ${name}`);

/** A published record as responses show it. */
const itemOf = (row: PublishedRow, kind: PublicKind, urls: SiteUrls): PublishedItem => ({
  id: row.id,
  title: row.title,
  slug: row.slug,
  language: row.language,
  summary: row.summary,
  tags: row.tags,
  published_at: row.published_at,
  updated_at: row.updated_at,
  url: urls.record(kind, row),
  path: urls.path(kind, row),
  cover_url: row.cover_document_id === null ? null : urls.absolute(urls.path(kind, row, '/cover')),
});

/** What `createReading` needs. */
interface Dependencies {
  readonly sites: Sites;
  readonly files: Files;
  /** The address of CRM. */
  readonly publicUrl: string;
}

export const createReading = ({ sites, files, publicUrl }: Dependencies): Reading => {
  const open = async (tenant: string, language: string | undefined) => {
    const site = await sites.find(tenant);
    const urls = urlsOf(site, publicUrl);
    return { site, db: site.db, urls, language: language ?? site.settings.content_language };
  };

  const find = async (kind: PublicKind, address: Address) => {
    const { slug } = address;
    const { db, urls, language } = await open(address.tenant, address.language);
    const row = await findPublished(db, kind, { slug, language });
    const moved = row ? undefined : await findMoved(db, kind, { slug, language });
    if (!row && !moved) throw notPublished(kind);
    return { db, urls, row, moved } as {
      readonly db: Site['db'];
      readonly urls: SiteUrls;
      readonly row: PublishedText | undefined;
      readonly moved: Translation;
    };
  };

  return {
    sites,

    async list(tenant, kind, listing) {
      const { db, urls, language } = await open(tenant, listing.language);
      const found = await listPublished(db, kind, { ...listing, language });
      return Object.assign(found, { items: found.rows.map((row) => itemOf(row, kind, urls)) });
    },

    async get(kind, address) {
      const { db, urls, row, moved } = await find(kind, address);
      if (!row) return { movedTo: urls.path(kind, moved) };
      const all = await findTranslations(db, kind, [row.translation_group]);
      const others = all.filter(({ language }) => language !== row.language);
      const translations = others.map((one) => ({
        language: one.language,
        slug: one.slug,
        url: urls.record(kind, one),
        path: urls.path(kind, one),
      }));
      const item = itemOf(row, kind, urls);
      return { value: Object.assign(item, { body_html: row.body_html, translations }) };
    },

    async cover(kind, address) {
      const { db, urls, row, moved } = await find(kind, address);
      if (!row) return { movedTo: urls.path(kind, moved, '/cover') };
      const file = await openCover(db, files, row);
      if (!file) throw notFound('The cover image');
      return { value: Object.assign(file, { cacheControl: CACHE_CONTROL }) };
    },

    async tree(tenant, given) {
      const { db, urls, language } = await open(tenant, given);
      const rows = await readTree(db, language);
      const items = rows.slice(0, MAX_TREE).map((row) => ({
        id: row.id,
        parent_id: row.parent_id,
        depth: row.depth,
        title: row.title,
        slug: row.slug,
        url: urls.record(pages, row),
        path: urls.path(pages, row),
      }));
      return { items, isComplete: rows.length <= MAX_TREE };
    },

    async newestPosts(tenant, given) {
      const { site, db, urls, language } = await open(tenant, given);
      const newest = { language, most: FEED_POSTS };
      return {
        site,
        urls,
        language,
        versions: await findNewestVersions(db, posts, newest),
        async read() {
          const rows = await findNewest(db, posts, {
            ...newest,
            bytesOfAll: FEED_BYTES,
            bytesOfOne: POST_BYTES,
          });
          return rows.map((row) =>
            Object.assign(itemOf(row, posts, urls), { body_html: row.body_html }),
          );
        },
      };
    },
  };
};
