import type { Language, Random } from './random.ts';

/** The text of an article, a post or a page, and what CRM derives from it. */
export interface ContentText {
  readonly title: string;
  readonly slug: string;
  readonly summary: string | null;
  /** Markdown. */
  readonly body: string;
  readonly body_html: string;
  readonly body_text: string;
  readonly word_count: number;
}

const asciiOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '-');

/** What CRM makes of paragraphs without markup. */
export const bodyOf = (paragraphs: readonly string[]) => ({
  body: paragraphs.join('\n\n'),
  body_html: paragraphs.map((paragraph) => `<p>${paragraph}</p>\n`).join(''),
  body_text: paragraphs.join('\n'),
  word_count: paragraphs.join(' ').split(/\s+/).length,
});

export const paragraphs = (random: Random, language: Language, count: number): string[] =>
  Array.from({ length: count }, () =>
    random.somebody(language).faker.lorem.sentences({ min: 2, max: 8 }),
  );

/** Some paragraphs under a title whose slug is not among those that are taken, to which it is added. */
export const contentText = (
  random: Random,
  language: Language,
  taken: Set<string>,
  body: readonly string[],
): ContentText => {
  const { faker } = random.somebody(language);
  const title = faker.lorem.sentence({ min: 2, max: 6 }).replace(/\.$/, '');
  const stem = asciiOf(title);
  let slug = stem;
  for (let number = 2; taken.has(slug); number += 1) slug = `${stem}-${number}`;
  taken.add(slug);
  return {
    title,
    slug,
    summary: random.chance(0.7) ? faker.lorem.sentence() : null,
    ...bodyOf(body),
  };
};
