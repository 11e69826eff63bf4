import type { Readable } from 'node:stream';
import { runConfined } from './confined-process.ts';
import { type ImageType, type TextType, UNREADABLE } from './types.ts';
import type { Words } from './words.ts';

/** The limits of the process that reads a file. */
export interface WorkerLimits {
  /** How long it may run, in seconds. Default 60. It may use a quarter of that as processor time; after a twelfth, the beginning of a text is the result. */
  readonly seconds?: number;
  /** The memory that it may use, in bytes. Default 240 MiB. */
  readonly memoryBytes?: number;
}

/** The file is damaged, encrypted or not of the given type: reading it again would not help. */
export class UnreadableContent extends Error {}

/** The process was ended at a limit, or has crashed. */
export class WorkerEnded extends Error {}

/**
 * Reads users' files, each in a separate process with limits of time and memory, an empty environment and no network. A
 * file cannot harm the service, whatever it does to its process.
 */
export interface ContentWorker {
  /**
   * The words of a file, or of its beginning if it has more text, more pages or takes longer than the limits. Rejects with `UnreadableContent` or `WorkerEnded`, or with the error of the stream or the
   * signal.
   */
  words(content: Readable, type: TextType, signal?: AbortSignal): Promise<Words>;
  /** A small WebP of an image, of at most 512 pixels a side. Rejects like `words`. */
  thumbnail(content: Readable, type: ImageType, signal?: AbortSignal): Promise<Buffer>;
}

const MEBIBYTE = 1024 * 1024;

export const createContentWorker = ({
  seconds = 60,
  memoryBytes = 240 * MEBIBYTE,
}: WorkerLimits = {}): ContentWorker => {
  const limits = { seconds, memoryBytes, resultBytes: 4 * MEBIBYTE };

  const run = async (
    task: string,
    type: string,
    content: Readable,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> => {
    const args = [task, type, String(seconds), String(memoryBytes)];
    const { code, result } = await runConfined('child/main', args, content, limits, signal);
    if (code === 0) return result;
    if (code === UNREADABLE) throw new UnreadableContent(result.toString());
    throw new WorkerEnded('The process that read a file reached a limit or crashed.');
  };

  return {
    words: async (content, type, signal) =>
      JSON.parse((await run('words', type, content, signal)).toString()) as Words,
    thumbnail: (content, type, signal) => run('thumbnail', type, content, signal),
  };
};
