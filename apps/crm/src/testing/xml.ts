import { parseXml, XmlElement } from '@rgrove/parse-xml';

/** The root of a document. Throws if the document is not well-formed. */
export const rootOf = (xml: string): XmlElement => {
  const { root } = parseXml(xml);
  if (!root) throw new Error('The document has no root.');
  return root;
};

/** The elements with a name below another one, in the order of the document. */
export const elementsIn = (parent: XmlElement, name: string): XmlElement[] =>
  parent.children.flatMap((child) => {
    if (!(child instanceof XmlElement)) return [];
    return [...(child.name === name ? [child] : []), ...elementsIn(child, name)];
  });

/** The texts of the elements with a name in a document. */
export const textsOf = (xml: string, name: string): string[] =>
  elementsIn(rootOf(xml), name).map(({ text }) => text);
