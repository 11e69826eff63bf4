/** Characters that XML cannot contain (XML 1.0 section 2.2). Surrogates without their other half are replaced. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** A text in which nothing is markup. Parsers would take a carriage return for a line feed. A callback for each would be slow. */
const escaped = (text: string): string =>
  text
    .replace(NOT_XML, '')
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;');

/** The same in an attribute. Parsers would take other white space for blanks. */
const attribute = (text: string): string =>
  escaped(text).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;');

/** An element as XML. Only `element` makes it, so that no text is taken for XML. */
export interface XmlElement {
  readonly xml: string;
}

/** An element that contains a text or other elements. The names must be XML names; values and texts may be anything. */
export const element = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  content: string | readonly XmlElement[] = [],
): XmlElement => {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${attribute(value)}"`);
  const inner =
    typeof content === 'string' ? escaped(content) : content.map(({ xml }) => xml).join('');
  return { xml: `<${name}${given.join('')}>${inner}</${name}>` };
};

/** A document with this root. */
export const documentOf = ({ xml }: XmlElement): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${xml}\n`;
