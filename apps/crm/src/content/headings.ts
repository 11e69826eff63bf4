import type { Element, Root } from 'hast';
import { toString as textOf } from 'hast-util-to-string';
import { visit } from 'unist-util-visit';
import { slugOf } from './slugs.ts';

/** Keeps ids from hiding properties of the document that shows the text. */
const PREFIX = 'content-';

const isHeading = ({ tagName }: Element): boolean => /^h[1-6]$/.test(tagName);

/** The id of a text, with `fallback` for one without letters. */
const idOf = (text: string, fallback: string): string =>
  `${PREFIX}${slugOf(text.slice(0, 200), '', fallback)}`;

/** A fragment as its author means it; one that is not encoded correctly is taken as it is. */
const decoded = (fragment: string): string => {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
};

/**
 * The id of the heading that a fragment names: by its id, by the id without the prefix, which authors do not know, or in
 * the letters of the heading.
 */
const headingOf = (fragment: string, ids: ReadonlySet<string>): string | undefined => {
  const name = decoded(fragment);
  return [name, `${PREFIX}${name}`, idOf(name, '')].find((id) => ids.has(id));
};

/**
 * Gives headings ids, and links within the text the ids of their headings. A link to no heading stays as it is. Search
 * engines and the opened page are kept from trusting links.
 */
export const completeTree = (tree: Root): void => {
  const counts = new Map<string, number>();
  const ids = new Set<string>();
  const linksWithin: Element[] = [];
  visit(tree, 'element', (element: Element) => {
    const { tagName, properties } = element;
    if (tagName === 'a' && properties.href !== undefined) {
      properties.rel = ['noopener', 'nofollow', 'ugc'];
      if (`${properties.href}`.startsWith('#')) linksWithin.push(element);
    }
    if (!isHeading(element)) return;
    const id = idOf(textOf(element), 'section');
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    properties.id = count === 1 ? id : `${id}--${count}`;
    ids.add(properties.id);
  });
  if (ids.size === 0) return;
  for (const { properties } of linksWithin) {
    const id = headingOf(`${properties.href}`.slice(1), ids);
    if (id !== undefined) properties.href = `#${id}`;
  }
};
