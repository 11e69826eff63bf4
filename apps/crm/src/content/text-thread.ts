import { RefusedBody, type RenderedBody, renderMarkdown } from './markdown.ts';
import { diffTexts, type TextDiff } from './revisions/text-diff.ts';

/** What the thread returns: the class of an error would not survive the way back. */
export type Rendering = RenderedBody | { readonly refused: string };

/** Renders a body. */
export const render = (source: string): Rendering => {
  try {
    return renderMarkdown(source);
  } catch (error) {
    if (error instanceof RefusedBody) return { refused: error.message };
    throw error;
  }
};

/** Compares two texts. */
export const diff = (texts: { readonly from: string; readonly to: string }): TextDiff =>
  diffTexts(texts.from, texts.to);
