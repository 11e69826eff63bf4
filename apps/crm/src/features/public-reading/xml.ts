/** Characters that XML cannot contain (XML 1.0 section 2.2). Surrogates without their other half are replaced. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** What would be markup in a text. Parsers would take a carriage return for a line feed. */
const IN_TEXT = /[&<>\r]/g;
/** What would be markup in an attribute. Parsers would take other white space for blanks. */
const IN_ATTRIBUTE = /[&<>"\t\n\r]/g;

const reference = (character: string): string =>
  `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`;

const escaped = (text: string, special: RegExp): string =>
  text.replace(NOT_XML, '').toWellFormed().replace(special, reference);

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
  const given = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(value, IN_ATTRIBUTE)}"`,
  );
  const inner =
    typeof content === 'string'
      ? escaped(content, IN_TEXT)
      : content.map(({ xml }) => xml).join('');
  return { xml: `<${name}${given.join('')}>${inner}</${name}>` };
};

/** A document with this root. */
export const documentOf = ({ xml }: XmlElement): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n${xml}\n`;
