import { described, int, shape } from '@tessera/fields';
import { empty, type RouteEntry, type RouteTable, streamed } from '@tessera/http-kit';
import { route } from '../../http.ts';
import { type BuiltTexts, partsOf } from './built-texts.ts';
import { revalidate } from './caching.ts';
import { type FeedFormat, feedFormats, feedOf, feedPath } from './feeds.ts';
import { ByLanguage } from './public.schema.ts';
import { FEED_BYTES, POST_BYTES, type Reading } from './reading.service.ts';
import { publicProblems, publicRead, SITE_PATH, siteParams } from './site.routes.ts';
import { MAX_ALTERNATES } from './sitemap.repository.ts';
import type { Sitemaps, SitemapText } from './sitemap.ts';

const XML = 'application/xml';

/** Feeds and sitemaps cost more than a record. */
const publicXml = { ...publicRead, limit: 'publicXml', problems: publicProblems } as const;

const feedRoute = (format: FeedFormat, reading: Reading, texts: BuiltTexts): RouteEntry => {
  const { type } = feedFormats[format];
  return route({
    ...publicXml,
    path: `${SITE_PATH}${feedPath(format)}`,
    summary: `Read the ${format === 'rss' ? 'RSS' : 'Atom'} feed of the published posts`,
    description: `The newest 30 posts of one language, with their texts until these have ${FEED_BYTES.toLocaleString('en')} bytes of HTML together. Longer ones than ${POST_BYTES.toLocaleString('en')} bytes, and those after the limit, only have what lists show.`,
    params: shape(siteParams),
    query: ByLanguage,
    responses: { 200: streamed({ [type]: null }), 304: empty },
    handler: async ({ params: { tenant }, query: { language }, req, reply }) => {
      const feed = await feedOf(reading, format, tenant, language);
      const { headers, isKnown } = revalidate(req, feed.etag);
      if (isKnown) return reply(304, headers);
      const xml = await texts.get(feed, feed.write);
      return reply(200, { type: `${type}; charset=utf-8`, chunks: partsOf(xml) }, headers);
    },
  });
};

const sitemapAnswer = { 200: streamed({ [XML]: null }), 304: empty } as const;

/** Feeds of posts, and sitemaps of all published records. */
export const xmlRoutes = (reading: Reading, sitemaps: Sitemaps, texts: BuiltTexts): RouteTable => ({
  getRssFeed: feedRoute('rss', reading, texts),
  getAtomFeed: feedRoute('atom', reading, texts),
  getSitemap: route({
    ...publicXml,
    path: `${SITE_PATH}/sitemap.xml`,
    summary: 'Read the sitemap of the published records',
    description: `Of all kinds and languages, with the translations of each record if there are at most ${MAX_ALTERNATES}. An index of sitemaps if there are more than 1,000.`,
    params: shape(siteParams),
    responses: sitemapAnswer,
    handler: async ({ params: { tenant }, req, reply }) => {
      const { etag, text }: SitemapText = await sitemaps.whole(tenant);
      const { headers, isKnown } = revalidate(req, etag);
      return isKnown
        ? reply(304, headers)
        : reply(200, { type: XML, chunks: partsOf(await text()) }, headers);
    },
  }),
  getSitemapPart: route({
    ...publicXml,
    path: `${SITE_PATH}/sitemaps/{number}.xml`,
    summary: 'Read one sitemap of the index',
    params: shape({ ...siteParams, number: described(int(1, 1_000_000), 'Counted from 1') }),
    responses: sitemapAnswer,
    handler: async ({ params: { tenant, number }, req, reply }) => {
      const { etag, text } = await sitemaps.part(tenant, number);
      const { headers, isKnown } = revalidate(req, etag);
      return isKnown
        ? reply(304, headers)
        : reply(200, { type: XML, chunks: partsOf(await text()) }, headers);
    },
  }),
});
