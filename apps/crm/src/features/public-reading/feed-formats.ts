import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PublishedItem } from './public.schema.ts';
import { documentOf, element, type XmlElement } from './xml.ts';

/** A post in a feed. */
export type FeedPost = Pick<
  PublishedItem,
  'id' | 'title' | 'summary' | 'tags' | 'url' | 'cover_url' | 'published_at' | 'updated_at'
> & {
  /** Null if the feed would be too large with it. */
  readonly body_html: string | null;
};

/** What a feed says, in any format. */
export interface Feed {
  readonly title: string;
  readonly language: string;
  /** The address of the site. */
  readonly home: string;
  /** The address of this feed. */
  readonly self: string;
  readonly updated: Date;
  readonly posts: readonly FeedPost[];
}

const ATOM = 'http://www.w3.org/2005/Atom';
const CONTENT = 'http://purl.org/rss/1.0/modules/content/';
/** Media RSS. Unlike an enclosure, its images need neither a type nor a length, which only the document knows. */
const MEDIA = 'http://search.yahoo.com/mrss/';

const text = (name: string, content: string): XmlElement => element(name, {}, content);

const cover = ({ cover_url: url }: FeedPost): XmlElement[] =>
  url === null ? [] : [element('media:content', { url, medium: 'image' })];

/** A plain text as HTML. */
const htmlOf = (plain: string): string =>
  plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The posts as XML. Other requests have a turn after each. */
const written = async (
  posts: readonly FeedPost[],
  write: (post: FeedPost) => XmlElement,
): Promise<XmlElement[]> => {
  const elements: XmlElement[] = [];
  for (const post of posts) {
    elements.push(write(post));
    await nextTurn();
  }
  return elements;
};

const entryOf = (post: FeedPost): XmlElement =>
  element('entry', {}, [
    text('id', `urn:uuid:${post.id}`),
    text('title', post.title),
    element('link', { href: post.url }),
    text('updated', post.updated_at.toISOString()),
    text('published', post.published_at.toISOString()),
    ...post.tags.map((term) => element('category', { term })),
    ...(post.summary === null ? [] : [text('summary', post.summary)]),
    ...(post.body_html === null ? [] : [element('content', { type: 'html' }, post.body_html)]),
    ...cover(post),
  ]);

/** A feed in Atom (RFC 4287). Titles and summaries are plain text there unless they say otherwise. */
export const atomOf = async (feed: Feed): Promise<string> => {
  const { title, language, home, self, updated, posts } = feed;
  const entries = await written(posts, entryOf);
  return documentOf(
    element('feed', { xmlns: ATOM, 'xmlns:media': MEDIA, 'xml:lang': language }, [
      text('id', self),
      text('title', title),
      text('updated', updated.toISOString()),
      element('link', { rel: 'alternate', href: home }),
      element('link', { rel: 'self', href: self }),
      // Each feed needs an author: that of the posts is the organisation, because public reading names no persons.
      element('author', {}, [text('name', title)]),
      ...entries,
    ]),
  );
};

const itemOf = (post: FeedPost): XmlElement =>
  element('item', {}, [
    text('title', post.title),
    text('link', post.url),
    element('guid', { isPermaLink: 'false' }, `urn:uuid:${post.id}`),
    text('pubDate', post.published_at.toUTCString()),
    ...post.tags.map((tag) => text('category', tag)),
    // Readers take this text for HTML.
    ...(post.summary === null ? [] : [text('description', htmlOf(post.summary))]),
    ...(post.body_html === null ? [] : [text('content:encoded', post.body_html)]),
    ...cover(post),
  ]);

/** A feed in RSS 2.0. */
export const rssOf = async (feed: Feed): Promise<string> => {
  const { title, language, home, self, updated, posts } = feed;
  const items = await written(posts, itemOf);
  return documentOf(
    element(
      'rss',
      { version: '2.0', 'xmlns:atom': ATOM, 'xmlns:content': CONTENT, 'xmlns:media': MEDIA },
      [
        element('channel', {}, [
          text('title', title),
          text('link', home),
          text('description', title),
          text('language', language),
          text('lastBuildDate', updated.toUTCString()),
          element('atom:link', { rel: 'self', type: 'application/rss+xml', href: self }),
          ...items,
        ]),
      ],
    ),
  );
};
