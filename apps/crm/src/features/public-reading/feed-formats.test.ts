import fc from 'fast-check';
import { elementsIn, rootOf } from '../../testing/xml.ts';
import { atomOf, type FeedPost, rssOf } from './feed-formats.ts';

/** What a text has to survive: markup, references, the ends of sections, and what XML cannot contain. */
const HOSTILE = [
  ']]>',
  ']]',
  '<![CDATA[',
  '<',
  '>',
  '&',
  '&lt;',
  '&#x3C;',
  '"',
  "'",
  '\r\n',
  '\r',
  '\t',
  '<!--',
  '-->',
  '<?xml?>',
  '<img src=x onerror=alert(1)>',
  'List<T>',
  '\u0000',
  '\u0001',
  '\u0085',
  '\ufffe',
  '\uffff',
  '\ud800',
  '\udc00',
  '😀',
];

const anyText = fc
  .array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' })), { maxLength: 8 })
  .map((parts) => parts.join(''));

const CHARACTER = /^[\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]$/u;

/** What a parser reads: everything but the characters that XML cannot contain (XML 1.0 section 2.2). */
const readable = (text: string): string =>
  [...text]
    .filter((character) => CHARACTER.test(character))
    .join('')
    .toWellFormed();

/** What a browser shows of an HTML text without elements. */
const shown = (html: string): string =>
  html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const feedWith = (text: string) => {
  const post: FeedPost = {
    id: '0199a3a4-0000-7000-8000-000000000001',
    title: text,
    summary: text,
    tags: [text, 'food'],
    url: 'https://example.com/blog-posts/one?a=1&b=2',
    cover_url: 'https://example.com/blog-posts/one/cover?a=1&b=2',
    published_at: new Date('2026-01-01T00:00:00Z'),
    updated_at: new Date('2026-01-02T00:00:00Z'),
    body_html: text,
  };
  return {
    title: text,
    language: 'en',
    home: 'https://example.com',
    self: 'https://example.com/feed',
    updated: new Date('2026-01-02T00:00:00Z'),
    posts: [post, post],
  };
};

describe('Whatever the texts contain, a parser reads them as they are', () => {
  test('in Atom', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const given = feedWith(text);
        const feed = rootOf(await atomOf(given));
        const textsIn = (name: string) => elementsIn(feed, name).map((one) => one.text);
        const expected = readable(text);
        expect(elementsIn(feed, 'entry')).toHaveLength(2);
        expect(textsIn('title')).toEqual([expected, expected, expected]);
        expect(textsIn('name')).toEqual([expected]);
        expect(textsIn('summary')).toEqual([expected, expected]);
        expect(textsIn('content')).toEqual([expected, expected]);
        const terms = elementsIn(feed, 'category').map(({ attributes }) => attributes.term);
        expect(terms).toEqual([expected, 'food', expected, 'food']);
        const types = ['title', 'summary', 'content'].map(
          (name) => elementsIn(feed, name)[0]?.attributes.type,
        );
        expect(types).toEqual([undefined, undefined, 'html']);
      }),
    );
  });

  test('in RSS, where summaries are HTML', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const given = feedWith(text);
        const feed = rootOf(await rssOf(given));
        const textsIn = (name: string) => elementsIn(feed, name).map((one) => one.text);
        const expected = readable(text);
        expect(elementsIn(feed, 'item')).toHaveLength(2);
        expect(textsIn('title')).toEqual([expected, expected, expected]);
        const [ofChannel, ...summaries] = textsIn('description');
        expect(ofChannel).toBe(expected);
        expect(summaries.map(shown)).toEqual([expected, expected]);
        expect(summaries.join('')).not.toMatch(/[<>]/);
        expect(textsIn('content:encoded')).toEqual([expected, expected]);
        expect(textsIn('category')).toEqual([expected, 'food', expected, 'food']);
      }),
    );
  });
});

test('A cover is an image without a type and a length, which the feed does not know', async () => {
  for (const write of [atomOf, rssOf]) {
    const covers = elementsIn(rootOf(await write(feedWith('Title'))), 'media:content');
    expect(covers.map(({ attributes }) => ({ ...attributes }))).toEqual(
      Array(2).fill({
        url: 'https://example.com/blog-posts/one/cover?a=1&b=2',
        medium: 'image',
      }),
    );
  }
});
