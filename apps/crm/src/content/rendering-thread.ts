import { RefusedBody, type RenderedBody, renderMarkdown } from './markdown.ts';

/** What the thread returns: the class of an error would not survive the way back. */
export type Rendering = RenderedBody | { readonly refused: string };

/** Renders a body, in a thread of its own. */
export default (source: string): Rendering => {
  try {
    return renderMarkdown(source);
  } catch (error) {
    if (error instanceof RefusedBody) return { refused: error.message };
    throw error;
  }
};
