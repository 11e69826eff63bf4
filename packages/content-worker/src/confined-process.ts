import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { sourceFlags } from './source-flags.ts';

/** The limits of a process. */
export interface ProcessLimits {
  /** How long it may run, in seconds. */
  readonly seconds: number;
  /** The memory that it may use, in bytes. V8 limits the heap; the program must call `confine` to limit the rest. */
  readonly memoryBytes: number;
  /** The maximum size of its result, in bytes. */
  readonly resultBytes: number;
}

/** The result of a process that has ended. */
export interface ProcessResult {
  /** The exit code; null if it was killed. */
  readonly code: number | null;
  readonly result: Buffer;
}

const MEBIBYTE = 1024 * 1024;
/** The share of the memory for the heap; code, buffers and images are outside of it. */
const HEAP = 0.6;

const extension = extname(import.meta.url);

/** The output; undefined if it is larger than `maxBytes`. */
const readResult = async (output: Readable, maxBytes: number): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const CLOSED: readonly unknown[] = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'];

/** Sends the content. Returns an error if a stream was closed before its end, usually because the process ended. */
const send = async (content: Readable, stdin: Writable): Promise<unknown> => {
  try {
    await pipeline(content, stdin);
    return undefined;
  } catch (error) {
    if (CLOSED.includes((error as { readonly code?: unknown }).code)) return error;
    throw error;
  }
};

/**
 * Runs a module of this package, given by its path without extension, in a process of its own. Its standard input is
 * the content, and its result is what it writes to the file descriptor 3. The process has an empty environment, and is
 * killed at a limit or if the signal is aborted. Rejects with the error of the content or the signal.
 */
export const runConfined = async (
  program: string,
  args: readonly string[],
  content: Readable,
  { seconds, memoryBytes, resultBytes }: ProcessLimits,
  signal?: AbortSignal,
): Promise<ProcessResult> => {
  const path = fileURLToPath(new URL(`./${program}${extension}`, import.meta.url));
  const heap = `--max-old-space-size=${Math.floor((memoryBytes * HEAP) / MEBIBYTE)}`;
  const child = spawn(process.execPath, [...sourceFlags(path), heap, path, ...args], {
    // The environment of the service contains secrets.
    env: {},
    stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
    signal,
  });
  const closed = once(child, 'close') as Promise<[code: number | null]>;
  closed.catch(() => undefined);
  try {
    // Without free file descriptors there are no streams, and `closed` rejects.
    if (!(child.stdio as unknown)) await closed;
    const [stdin, , , output] = child.stdio as unknown as [Writable, null, null, Readable];
    const [result, cut, [code]] = await Promise.all([
      readResult(output, resultBytes),
      send(content, stdin),
      closed,
    ]);
    // The process has read only a part of the content, and has taken it for the whole.
    if (cut !== undefined && result && result.length > 0) throw cut;
    return result ? { code, result } : { code: null, result: Buffer.alloc(0) };
  } finally {
    child.kill('SIGKILL');
    content.destroy();
  }
};
