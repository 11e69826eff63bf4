/** A rendering that never ends if the text begins with "endless". */
export const render = (source: string): unknown => {
  while (source.startsWith('endless'));
  return { body_html: source, body_text: source, word_count: 1 };
};
