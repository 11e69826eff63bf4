import { extname } from 'node:path';
import { sourceFlags } from '@tessera/content-worker';
import { HttpError, invalidField } from '@tessera/http-kit';
import { Piscina } from 'piscina';
import type { RenderedBody } from './markdown.ts';
import render, { type Rendering } from './rendering-thread.ts';

/** Shorter bodies take a few milliseconds at most, whatever they contain. */
const SHORT = 2000;
/** Those that wait hold a connection to the database. */
const MAX_WAITING = 8;
const MEBIBYTES = 256;
const IDLE_MS = 60_000;

/** Renders bodies. */
export interface BodyRenderer {
  /** 422 if the body is refused, 503 if it is not rendered in time or too many wait. */
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

  let unfinished = 0;
  const inThread = async (source: string): Promise<Rendering> => {
    if (unfinished > MAX_WAITING) throw overloaded();
    unfinished += 1;
    try {
      // An aborted task ends its thread.
      return await threads.run(source, { signal: AbortSignal.timeout(deadlineMs) });
    } catch (cause) {
      throw overloaded(cause);
    } finally {
      unfinished -= 1;
    }
  };

  return {
    async render(source) {
      return completed(source.length > SHORT ? await inThread(source) : render(source));
    },
  };
};

let shared: BodyRenderer | undefined;

/** Renders a body in the thread that this process has for it, as `BodyRenderer.render` does. */
export const renderBody = (source: string): Promise<RenderedBody> => {
  shared ??= createBodyRenderer();
  return shared.render(source);
};
