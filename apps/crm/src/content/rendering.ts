import { extname } from 'node:path';
import { sourceFlags } from '@tessera/content-worker';
import { HttpError, invalidField, type RouteEntry } from '@tessera/http-kit';
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { MAX_BODY } from './content.schema.ts';
import type { RenderedBody } from './markdown.ts';
import render, { type Rendering } from './rendering-thread.ts';

/**
 * Shorter bodies are rendered at once. They take less than a millisecond; the worst one, a table whose rows lack most cells,
 * takes tens.
 */
const SHORT = 500;
/** How many characters are rendered or wait: hundreds of bodies of some lines come before the thread has started. */
const MAX_UNFINISHED = 9 * MAX_BODY;
/** How many characters the cached renderings have, with their sources. Even the longest rendering is cached. */
const MAX_CACHED = 4_000_000;
const MEBIBYTES = 256;
const IDLE_MS = 60_000;

/** Renders bodies. */
export interface BodyRenderer {
  /**
   * Renders a body, or finds it among the last ones. 422 if the body is refused, 503 if it is not rendered in time or too
   * much text waits.
   */
  render(source: string): Promise<RenderedBody>;
}

interface Options {
  /** The module of the thread, without extension. */
  readonly program?: string;
  readonly deadlineMs?: number;
}

const extension = extname(import.meta.url);

const completed = (rendering: Rendering): RenderedBody => {
  if ('refused' in rendering) throw invalidField('body', rendering.refused);
  return rendering;
};

const overloaded = (cause?: unknown): HttpError =>
  new HttpError(503, 'overloaded', 'Too many texts are being rendered.', {
    headers: { 'Retry-After': '5' },
    cause,
  });

/** Renders long bodies in a thread, which starts with the first one and ends when it has been idle for a minute. */
export const createBodyRenderer = ({
  program = './rendering-thread',
  deadlineMs = 10_000,
}: Options = {}): BodyRenderer => {
  const { href } = new URL(`${program}${extension}`, import.meta.url);
  const threads = new Piscina({
    filename: href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MEBIBYTES },
    execArgv: sourceFlags(href),
    // The environment of the service contains secrets.
    env: {},
  });

  const cached = new LRUCache<string, RenderedBody>({
    maxSize: MAX_CACHED,
    // A size must not be zero, which that of an empty body would be.
    sizeCalculation: ({ body_html, body_text }, source) =>
      source.length + body_html.length + body_text.length + 1,
  });
  let unfinished = 0;
  const inThread = async (source: string): Promise<Rendering> => {
    if (unfinished + source.length > MAX_UNFINISHED) throw overloaded();
    unfinished += source.length;
    try {
      // An aborted task ends its thread.
      return await threads.run(source, { signal: AbortSignal.timeout(deadlineMs) });
    } catch (cause) {
      throw overloaded(cause);
    } finally {
      unfinished -= source.length;
    }
  };

  return {
    async render(source) {
      const found = cached.get(source);
      if (found) return found;
      const rendering = source.length <= SHORT ? render(source) : await inThread(source);
      const rendered = completed(rendering);
      cached.set(source, Object.freeze(rendered));
      return rendered;
    },
  };
};

let shared: BodyRenderer | undefined;

/** Renders a body in the thread that this process has for it, as `BodyRenderer.render` does. */
export const renderBody = (source: string): Promise<RenderedBody> => {
  shared ??= createBodyRenderer();
  return shared.render(source);
};

/**
 * A route whose text is rendered before the transaction of the change, which finds it in the cache. Otherwise a few long
 * texts would hold connections to the database, and the locks that other changes wait for.
 */
export const renderedAhead = (route: RouteEntry): RouteEntry => ({
  ...route,
  async prepare({ body }: { readonly body?: string | undefined }) {
    if (body !== undefined) await renderBody(body);
  },
});
