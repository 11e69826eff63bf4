const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, in an element or a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

/** Without characters with which a name on a page could reorder the words around it. */
const withoutDirections = (text: string): string => text.replace(/\p{Bidi_Control}/gu, '');

/** HTML that is already escaped. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template; false and undefined render nothing. */
export type Content = string | number | Html | false | undefined | readonly Content[];

const markupOf = (content: Content): string => {
  if (content === undefined || content === false) return '';
  if (content instanceof Html) return content.markup;
  return typeof content === 'object'
    ? content.map(markupOf).join('')
    : escaped(withoutDirections(`${content}`));
};

/** A template literal that escapes every value except `Html`, and removes its controls of direction. */
export const html = (template: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(String.raw({ raw: template }, ...contents.map(markupOf)));
