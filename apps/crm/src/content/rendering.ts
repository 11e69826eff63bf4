import { FairCache } from '@tessera/fair-shares';
import { invalidField, type RouteEntry } from '@tessera/http-kit';
import type { Caller } from '../http.ts';
import type { RenderedBody } from './markdown.ts';
import { type Rendering, render } from './text-thread.ts';
import { type TextThreads, textThreads } from './text-threads.ts';

/** Shorter bodies are rendered at once: the worst one, a table whose rows lack most cells, takes some milliseconds. */
const SHORT = 500;
/**
 * How many characters the cached renderings have, with their sources. Tenants share them: a full cache drops those of the tenant
 * that has most. Two of the longest renderings fit.
 */
const MAX_CACHED = 5_000_000;

/** Renders bodies. */
export interface BodyRenderer {
  /**
   * Renders a body of a tenant, or finds it among the last ones. 422 if the body is refused; 429 and 503 as
   * `TextThreads.run`.
   */
  render(tenant: string, source: string): Promise<RenderedBody>;
}

const completed = (rendering: Rendering): RenderedBody => {
  if ('refused' in rendering) throw invalidField('body', rendering.refused);
  return rendering;
};

/** Renders long bodies in threads. */
export const createBodyRenderer = (threads: TextThreads): BodyRenderer => {
  const cached = new FairCache<RenderedBody>(MAX_CACHED);
  return {
    async render(tenant, source) {
      const found = cached.get(tenant, source);
      if (found) return found;
      const rendering =
        source.length <= SHORT
          ? render(source)
          : await threads.run(tenant, 'render', source, source.length);
      const rendered = completed(rendering);
      const { body_html, body_text } = rendered;
      const size = source.length + body_html.length + body_text.length + 1;
      cached.set(tenant, source, Object.freeze(rendered), size);
      return rendered;
    },
  };
};

let shared: BodyRenderer | undefined;

/** Renders a body in the threads that this process has for texts, as `BodyRenderer.render` does. */
export const renderBody = (tenant: string, source: string): Promise<RenderedBody> => {
  shared ??= createBodyRenderer(textThreads());
  return shared.render(tenant, source);
};

/**
 * A route whose text is rendered before the transaction of the change, which finds it in the cache. Otherwise a few long
 * texts would hold connections to the database, and the locks that other changes wait for.
 */
export const renderedAhead = (route: RouteEntry): RouteEntry => ({
  ...route,
  async prepare({ body }: { readonly body?: string | undefined }, { tenantId }: Caller) {
    if (body !== undefined) await renderBody(tenantId, body);
  },
});
