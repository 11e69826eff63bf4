import type { Element, Root } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { defaultSchema, sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import { toText } from 'hast-util-to-text';
import markdownIt from 'markdown-it';
import { visit } from 'unist-util-visit';

/** A body, rendered. */
export interface RenderedBody {
  /** Sanitised HTML. */
  readonly body_html: string;
  /** The same as plain text, for search and excerpts. */
  readonly body_text: string;
  readonly word_count: number;
}

/** Deeper quotes, lists and brackets are shown as text, because the time to parse them grows with their depth. */
const MAX_NESTING = 50;

const markdown = markdownIt({ html: true, linkify: true, maxNesting: MAX_NESTING });

/** Renders Markdown to HTML, and sanitises it. */
export const renderMarkdown = (source: string): RenderedBody => {
  const tree = sanitize(
    fromHtml(markdown.render(source), { fragment: true }),
    defaultSchema,
  ) as Root;
  visit(tree, 'element', (element: Element) => {
    if (element.tagName === 'a') element.properties.rel = ['noopener', 'nofollow', 'ugc'];
  });
  const body_text = toText(tree).trim();
  const words = body_text.split(/\s+/u).filter(Boolean);
  return { body_html: toHtml(tree), body_text, word_count: words.length };
};
