import { Readable } from 'node:stream';
import { buffer as bytesOf, text as textOf } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { notFound } from '@tessera/http-kit';
import { SitemapIndexStream, type SitemapItemLoose, SitemapStream } from 'sitemap';
import type { TenantDb } from '../../database.ts';
import { BuiltTexts } from './built-texts.ts';
import { tagOf } from './caching.ts';
import { type PublicKind, publicKinds } from './kinds.ts';
import { readSitemap, readSitemapState, type SitemapRow } from './sitemap.repository.ts';
import type { Sites } from './sites.service.ts';
import { type SiteUrls, urlsOf } from './urls.ts';

/**
 * The most URLs in one sitemap. sitemaps.org allows more, which would take too long and too much memory: each may have links to
 * `MAX_ALTERNATES` translations.
 */
const MAX_URLS = 1000;
/** After so many URLs, other requests have a turn. */
const WRITTEN_AT_ONCE = 25;

/** A part of the entity tags. Increase it with every change of how sitemaps are written: the same records then have other tags. */
const WRITING = 1;

/** A sitemap, or an index of sitemaps, and its entity tag. */
export interface SitemapText {
  readonly etag: string;
  text(): Promise<Buffer>;
}

const kindOf = new Map<string, PublicKind>(publicKinds.map((kind) => [kind.path, kind]));

const itemOf = ({ kind: path, alternates, updated_at, ...named }: SitemapRow, urls: SiteUrls) => {
  const kind = kindOf.get(path) as PublicKind;
  const links = (alternates ?? []).map((one) => ({
    lang: one.language,
    url: urls.record(kind, one),
  }));
  const item: SitemapItemLoose = {
    url: urls.record(kind, named),
    lastmod: updated_at.toISOString(),
    links,
  };
  return item;
};

async function* itemsOf(
  rows: readonly SitemapRow[],
  urls: SiteUrls,
): AsyncGenerator<SitemapItemLoose> {
  // A sitemap must have at least one URL.
  if (rows.length === 0) yield { url: urls.home };
  for (const [at, row] of rows.entries()) {
    if (at % WRITTEN_AT_ONCE === WRITTEN_AT_ONCE - 1) await nextTurn();
    yield itemOf(row, urls);
  }
}

export class Sitemaps {
  readonly texts = new BuiltTexts();
  readonly #sites: Sites;
  readonly #publicUrl: string;
  readonly #maxUrls: number;

  /** `maxUrls` is how many URLs a sitemap has at most. */
  constructor(sites: Sites, publicUrl: string, maxUrls = MAX_URLS) {
    this.#sites = sites;
    this.#publicUrl = publicUrl;
    this.#maxUrls = maxUrls;
  }

  /** The sitemap of a site: of all its records, or an index if they are too many for one. */
  async whole(tenant: string): Promise<SitemapText> {
    const { db, urls, total, etag } = await this.#open(tenant);
    if (total <= this.#maxUrls) return this.#records(db, urls, etag, 0);
    const count = Math.ceil(total / this.#maxUrls);
    const parts = Array.from({ length: count }, (_, at) =>
      urls.absolute(urls.own(`/sitemaps/${at + 1}.xml`)),
    );
    return {
      etag,
      text: () =>
        bytesOf(Readable.from(parts.map((url) => ({ url }))).pipe(new SitemapIndexStream())),
    };
  }

  /** One of the sitemaps of an index, counted from 1. Throws 404 for one that the index does not have. */
  async part(tenant: string, number: number): Promise<SitemapText> {
    const { db, urls, total, etag } = await this.#open(tenant);
    const offset = (number - 1) * this.#maxUrls;
    if (total <= this.#maxUrls || offset >= total) throw notFound('The sitemap');
    return this.#records(db, urls, etag, offset);
  }

  async #open(tenant: string) {
    const site = await this.#sites.find(tenant);
    const urls = urlsOf(site, this.#publicUrl);
    const { total, fingerprint } = await readSitemapState(site.db);
    const etag = tagOf(
      WRITING,
      this.#maxUrls,
      total,
      fingerprint,
      urls.home,
      urls.absolute(urls.own('')),
      site.settings.content_language,
    );
    return { db: site.db, urls, total, etag };
  }

  #records(db: TenantDb, urls: SiteUrls, etag: string, offset: number): SitemapText {
    const build = async (): Promise<string> => {
      const rows = await readSitemap(db, { offset, most: this.#maxUrls });
      return textOf(
        Readable.from(itemsOf(rows, urls)).pipe(
          new SitemapStream({ xmlns: { news: false, video: false, image: false, xhtml: true } }),
        ),
      );
    };
    return {
      etag,
      text: () => this.texts.get({ tenant: db.tenantId, name: `${offset}`, etag }, build),
    };
  }
}
