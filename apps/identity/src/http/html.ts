const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text in HTML, in an element or in a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

/** Markup that is safe to send. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What stands in a template; false and undefined leave nothing. */
export type Content = string | number | Html | false | undefined | readonly Content[];

const markupOf = (content: Content): string => {
  if (content === undefined || content === false) return '';
  if (content instanceof Html) return content.markup;
  return typeof content === 'object' ? content.map(markupOf).join('') : escaped(`${content}`);
};

/** A template in which everything is escaped that is not markup itself. */
export const html = (template: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(String.raw({ raw: template }, ...contents.map(markupOf)));
