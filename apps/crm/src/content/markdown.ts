import type { Root } from 'hast';
import { fromParse5 } from 'hast-util-from-parse5';
import { defaultSchema, type Schema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import markdownIt, { type Token } from 'markdown-it';
import { type DefaultTreeAdapterTypes, defaultTreeAdapter, parseFragment } from 'parse5';
import { visit } from 'unist-util-visit';
import { completeTree } from './headings.ts';

/** A body, rendered. */
export interface RenderedBody {
  /** Sanitised HTML. */
  readonly body_html: string;
  /** The same as plain text, for search and excerpts. */
  readonly body_text: string;
  readonly word_count: number;
}

/** A body that is not rendered because it could take very long. */
export class RefusedBody extends Error {}

/** Deeper quotes, lists and brackets are shown as text, because the time to parse them grows with their depth. */
const MAX_NESTING = 20;

const markdown = markdownIt({ html: true, linkify: true, maxNesting: MAX_NESTING });

/** The longest address that is recognised without a scheme. */
const MAX_ADDRESS = 2000;

/** GFM also links addresses that begin with `www.` instead of a scheme. */
markdown.linkify.add('www.', {
  validate: (text, position, linkify) => {
    const address = `//www.${text.slice(position, position + MAX_ADDRESS)}`;
    return Math.max(linkify.testSchemaAt(address, 'http:', 0) - '//www.'.length, 0);
  },
  normalize: (match) => {
    match.url = `http://${match.url}`;
  },
});

/** Elements whose content no browser shows as text of the page. Of other unknown elements, the content is kept. */
const NEVER_SHOWN = ['style', 'title', 'iframe', 'noembed', 'noframes'];

const STRIPPED = [...(defaultSchema.strip ?? []), ...NEVER_SHOWN];
/** Browsers show the content of these as text, with its tags. */
const SHOWN_AS_TEXT = ['textarea', 'xmp'];
const CLOSED = [...STRIPPED, ...SHOWN_AS_TEXT].join('|');
// Nothing closes <plaintext>.
const OPENING = new RegExp(`<(${CLOSED}|plaintext)\\b`, 'gi');
const CLOSING = new RegExp(`</(${CLOSED})\\b`, 'gi');

/**
 * HTML in which the tags of such elements are text if nothing closes them: they would take all that follows with
 * them, or show its tags, and most are words of a sentence ("the <title> tag").
 */
const withoutUnclosed = (html: string): string => {
  const lastClosing = new Map<string, number>();
  for (const { 1: name = '', index } of html.matchAll(CLOSING))
    lastClosing.set(name.toLowerCase(), index);
  return html.replace(OPENING, (tag, name: string, at: number) =>
    (lastClosing.get(name.toLowerCase()) ?? -1) > at ? tag : `&lt;${name}`,
  );
};

/** Ids are those of headings, which are added afterwards. Names could hide properties of the page that shows the HTML. */
const OWN_ATTRIBUTES: readonly unknown[] = ['id', 'name'];

/** What GitHub allows, without the form elements of its task lists. */
const schema: Schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => name !== 'input'),
  strip: STRIPPED,
  attributes: {
    ...defaultSchema.attributes,
    '*': (defaultSchema.attributes?.['*'] ?? []).filter((name) => !OWN_ATTRIBUTES.includes(name)),
  },
  protocols: {
    ...defaultSchema.protocols,
    href: ['http', 'https', 'mailto', 'tel'],
    src: ['http', 'https'],
  },
};

/** Elements within a line: other elements end a word. */
const INLINE = /^(a|b|code|del|em|i|ins|kbd|mark|q|s|samp|span|strike|strong|sub|sup|tt|var)$/;

/** The text of a tree, a line for each block. */
const plainText = (tree: Root): string => {
  const parts: string[] = [];
  visit(tree, (node) => {
    if (node.type === 'text') parts.push(node.value);
    else if (node.type === 'element' && !INLINE.test(node.tagName)) parts.push('\n');
  });
  const lines = parts.join('').split('\n');
  return lines
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n');
};

/**
 * HTML parses to many more elements than it has tags: an element such as `<b>` that is not closed is repeated in each
 * paragraph after it, and a row of a table that is too short gets the cells that it lacks.
 */
const MAX_ELEMENTS = 50_000;
/** The most elements of a body of this length. */
const elementsOf = (length: number): number => Math.min(MAX_ELEMENTS, 1000 + 3 * length);
/**
 * Repeated elements repeat their attributes, and references repeat the address of a link. An address that is not ASCII is
 * nine times as long in a link as in the body.
 */
const attributesOf = (length: number): number => 50_000 + 10 * length;
/** The most tokens outside lines for an element: an item of a list has five. */
const TOKENS_OF_ELEMENT = 5;
/** The time to parse an element grows with the number of open ones. */
const MAX_DEPTH = 200;
/**
 * The most characters of HTML of a body of this length. One of short links or headings has about twelve times as many as it has
 * itself; escaped attributes that are repeated could have hundreds of times as many, in each of a hundred comments of a page.
 */
const htmlCharactersOf = (length: number): number => 50_000 + 15 * length;

const ELEMENTS = 'HTML elements';
const ATTRIBUTES = 'characters in attributes of HTML elements';

const refuseAbove = (most: number, value: number, what: string): void => {
  if (value <= most) return;
  throw new RefusedBody(`body must not have more than ${most.toLocaleString('en')} ${what}`);
};

/** Refuses a body whose tables get too many cells as soon as they do: each cell takes memory. */
markdown.block.State = class extends markdown.block.State {
  override push(...token: Parameters<InstanceType<typeof markdown.block.State>['push']>): Token {
    refuseAbove(elementsOf(this.src.length), this.tokens.length / TOKENS_OF_ELEMENT, ELEMENTS);
    return super.push(...token);
  }
};

/** The alignment of cells is an attribute, as in GFM: styles are not kept. */
markdown.core.ruler.push('aligned_cells', ({ tokens }) => {
  for (const token of tokens) {
    if (!/^t[hd]_open$/.test(token.type)) continue;
    const alignment = `${token.attrGet('style') ?? ''}`.replace('text-align:', '');
    token.attrs = alignment === '' ? null : [['align', alignment]];
  }
});

const attributesIn = (tokens: readonly Token[]): number =>
  tokens.reduce((sum, { attrs, children }) => {
    const own = (attrs ?? []).reduce(
      (length, [name, value]) => length + name.length + `${value}`.length,
      0,
    );
    return sum + own + attributesIn(children ?? []);
  }, 0);

/**
 * Markdown as HTML that is not sanitised. The addresses and titles of references are counted while their links share them:
 * HTML that repeats a long one for thousands of links could exceed the memory of the process.
 */
const htmlOf = (source: string): string => {
  const tokens = markdown.parse(source, {});
  refuseAbove(attributesOf(source.length), attributesIn(tokens), ATTRIBUTES);
  return markdown.renderer.render(tokens, markdown.options, {});
};

/** Attributes with an address whose scheme is checked. Browsers ignore its case. */
const ADDRESSES = Object.keys(defaultSchema.protocols ?? {});

const lowerSchemes = (tree: Root): void =>
  visit(tree, 'element', ({ properties }) => {
    for (const name of ADDRESSES) {
      const { [name]: address } = properties;
      if (typeof address !== 'string') continue;
      properties[name] = address.replace(/^[a-z][a-z\d+.-]*:/i, (scheme) => scheme.toLowerCase());
    }
  });

/**
 * HTML as browsers parse it, with elements and attributes in proportion to the length of the body that it is made from,
 * and with at most `MAX_DEPTH` elements within each other.
 */
const parseHtml = (html: string, length: number): Root => {
  const mostElements = elementsOf(length);
  const mostAttributes = attributesOf(length);
  let elements = 0;
  let attributes = 0;
  // parse5 pushes the root first.
  let depth = -1;
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement(...element): DefaultTreeAdapterTypes.Element {
      elements += 1;
      refuseAbove(mostElements, elements, ELEMENTS);
      for (const { name, value } of element[2]) attributes += name.length + value.length;
      refuseAbove(mostAttributes, attributes, ATTRIBUTES);
      return defaultTreeAdapter.createElement(...element);
    },
    onItemPush() {
      depth += 1;
      if (depth > MAX_DEPTH) {
        throw new RefusedBody(`body must not nest more than ${MAX_DEPTH} HTML elements`);
      }
    },
    onItemPop() {
      depth -= 1;
    },
  };
  return fromParse5(parseFragment(html, { treeAdapter, scriptingEnabled: false })) as Root;
};

/**
 * Renders Markdown (GFM without task lists) to HTML. HTML in it is parsed as browsers do, and only elements and attributes
 * on a list are kept; `gfm.test.ts` lists what differs from the specification. Throws `RefusedBody`. Services call `renderBody`,
 * because a long body can take more than a second.
 */
export const renderMarkdown = (source: string): RenderedBody => {
  const html = withoutUnclosed(htmlOf(source));
  const parsed = parseHtml(html, source.length);
  lowerSchemes(parsed);
  const tree = sanitize(parsed, schema) as Root;
  completeTree(tree);
  const body_html = toHtml(tree);
  refuseAbove(htmlCharactersOf(source.length), body_html.length, 'characters of HTML');
  const body_text = plainText(tree);
  const words = body_text.split(/\s+/u).filter(Boolean);
  return { body_html, body_text, word_count: words.length };
};
