import { readFileSync } from 'node:fs';
import type { Root } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { toHtml } from 'hast-util-to-html';
import { visit } from 'unist-util-visit';
import { renderMarkdown } from './markdown.ts';

interface Example {
  readonly section: string;
  readonly markdown: string;
  readonly html: string;
}

/** The examples of the GitHub Flavored Markdown Spec 0.29 (CC-BY-SA 4.0), in its order. */
const examples = JSON.parse(
  readFileSync(new URL('./testing/gfm-examples.json', import.meta.url), 'utf8'),
) as readonly Example[];

/** The numbers of the examples that are meant to differ, by the reason. */
const DIFFERENCES = {
  'elements and attributes that are not on the list are left out: their content is kept': [
    120, 122, 123, 124, 133, 134, 139, 170, 500, 532, 544, 632, 633, 634, 635, 636,
  ],
  'scripts, styles, comments and instructions are left out': [
    140, 141, 145, 146, 147, 148, 149, 151, 152, 288, 289, 644, 645, 646, 647, 648, 649,
  ],
  'tags that would hide what follows are text if nothing closes them': [142],
  'task lists show their marks, because forms are not allowed': [279, 280],
  'strikethrough is <s>, which browsers show like <del>': [491],
  'addresses are links with the schemes http, https, mailto and tel only': [
    508, 604, 606, 607, 609, 628,
  ],
  'the section on autolinks of CommonMark does not know the extension': [610, 616, 619, 620],
  'the scheme of an address is in lower case': [605],
  'addresses without brackets around them end elsewhere: at a bracket too many, and after a reference':
    [625, 626],
  'more addresses of mail are recognised': [630],
} as const;

/** HTML without what is added to each heading and link, and without space between elements, which nobody sees. */
const comparable = (html: string): string => {
  const tree = fromHtml(html, { fragment: true }) as Root;
  visit(tree, (node, index, parent) => {
    if (node.type === 'element') {
      if (/^h[1-6]$/.test(node.tagName)) delete node.properties.id;
      if (node.tagName === 'a') delete node.properties.rel;
    }
    if (node.type !== 'text' || node.value.trim() !== '' || !parent || index === undefined) return;
    parent.children.splice(index, 1);
    return index;
  });
  // Both forms of a bracket in an address are right.
  return toHtml(tree).replaceAll('%5B', '[').replaceAll('%5D', ']');
};

test('Every example of the GFM specification is rendered as it says, except for those with a reason', () => {
  expect(examples.length).toBe(673);
  const differing = examples.flatMap(({ markdown, html }, index) =>
    comparable(renderMarkdown(markdown).body_html) === comparable(html) ? [] : [index + 1],
  );
  const expected = Object.values(DIFFERENCES)
    .flat()
    .sort((a, b) => a - b);
  expect(differing).toEqual(expected);
});
