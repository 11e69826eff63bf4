import { Feed } from 'feed';
import { tagOf } from './caching.ts';
import type { NewestPosts, Reading } from './reading.service.ts';
import type { Site } from './sites.service.ts';

/** The formats of feeds: the media type, and how a feed is written in it. */
export const feedFormats = {
  rss: { type: 'application/rss+xml', write: (feed: Feed) => feed.rss2() },
  atom: { type: 'application/atom+xml', write: (feed: Feed) => feed.atom1() },
} as const;

export type FeedFormat = keyof typeof feedFormats;

/** The path of a feed below that of the site. */
export const feedPath = (format: FeedFormat): string => `/feed.${format}`;

/** Characters that XML cannot contain (XML 1.0 section 2.2). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const xmlText = (text: string): string => text.replace(NOT_XML, '').toWellFormed();

/** Atom requires a time. An empty feed has that of the last change of its site's settings. */
const updatedAt = (site: Site, posts: readonly { readonly updated_at: Date }[]): Date =>
  posts.length === 0
    ? site.settingsChangedAt
    : new Date(Math.max(...posts.map(({ updated_at }) => updated_at.getTime())));

const compose = async ({ site, urls, language, read }: NewestPosts): Promise<Feed> => {
  const posts = await read();
  const title = site.settings.public_site_name ?? site.slug;
  const own = (format: FeedFormat): string => urls.absolute(urls.own(feedPath(format), language));
  const feed = new Feed({
    title: xmlText(title),
    description: xmlText(title),
    id: own('atom'),
    link: urls.home,
    language,
    generator: false,
    // The time of the newest change, and not of the request, so that the feed has the same bytes until something changes.
    updated: updatedAt(site, posts),
    feedLinks: { rss: own('rss'), atom: own('atom') },
  });
  for (const post of posts) {
    feed.addItem({
      title: xmlText(post.title),
      id: `urn:uuid:${post.id}`,
      guid: `urn:uuid:${post.id}`,
      link: post.url,
      date: post.updated_at,
      published: post.published_at,
      content: xmlText(post.body_html),
      category: post.tags.map((name) => ({ name: xmlText(name) })),
      ...(post.summary !== null && { description: xmlText(post.summary) }),
      ...(post.cover_url !== null && { image: post.cover_url }),
    });
  }
  return feed;
};

/** A feed: its entity tag, the key under which it is kept, and how its text is made. */
export interface FeedText {
  readonly key: string;
  readonly etag: string;
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
  const title = site.settings.public_site_name ?? site.slug;
  return {
    key: `${format} ${site.db.tenantId} ${language}`,
    etag: tagOf(
      format,
      title,
      urls.home,
      urls.own('', language),
      language,
      versions,
      versions.length === 0 ? site.settingsChangedAt : undefined,
    ),
    write: async () => feedFormats[format].write(await compose(newest)),
  };
};
