import type { TextName } from './built-texts.ts';
import { tagOf } from './caching.ts';
import { atomOf, type Feed, rssOf } from './feed-formats.ts';
import type { NewestPosts, Reading } from './reading.service.ts';
import type { Site } from './sites.service.ts';

/** The formats of feeds: the media type, and how a feed is written in it. */
export const feedFormats = {
  rss: { type: 'application/rss+xml', write: rssOf },
  atom: { type: 'application/atom+xml', write: atomOf },
} as const;

export type FeedFormat = keyof typeof feedFormats;

/** The path of a feed below that of the site. */
export const feedPath = (format: FeedFormat): string => `/feed.${format}`;

/** A part of the entity tags. Increase it with every change of how feeds are written: the same posts then have other tags. */
const WRITING = 2;

/** Atom requires a time. An empty feed has that of the last change of its site's settings. */
const updatedAt = (site: Site, posts: readonly { readonly updated_at: Date }[]): Date =>
  posts.length === 0
    ? site.settingsChangedAt
    : new Date(Math.max(...posts.map(({ updated_at }) => updated_at.getTime())));

const titleOf = ({ settings, slug }: Site): string => settings.public_site_name ?? slug;

const compose = async (
  { site, urls, language, read }: NewestPosts,
  format: FeedFormat,
): Promise<Feed> => {
  const posts = await read();
  return {
    title: titleOf(site),
    language,
    home: urls.home,
    self: urls.absolute(urls.own(feedPath(format), language)),
    // The time of the newest change, and not of the request, so that the feed has the same bytes until something changes.
    updated: updatedAt(site, posts),
    posts,
  };
};

/** A feed: the name under which it is kept, with its entity tag, and how its text is made. */
export interface FeedText extends TextName {
  write(): Promise<string>;
}

/** The feed of the newest posts of a language. Without `write`, their texts are not read. */
export const feedOf = async (
  reading: Reading,
  format: FeedFormat,
  tenant: string,
  given: string | undefined,
): Promise<FeedText> => {
  const newest = await reading.newestPosts(tenant, given);
  const { site, urls, language, versions } = newest;
  return {
    tenant: site.db.tenantId,
    name: `${format} ${language}`,
    etag: tagOf(
      WRITING,
      format,
      titleOf(site),
      urls.home,
      urls.own('', language),
      language,
      versions,
      versions.length === 0 ? site.settingsChangedAt : undefined,
    ),
    write: async () => feedFormats[format].write(await compose(newest, format)),
  };
};
