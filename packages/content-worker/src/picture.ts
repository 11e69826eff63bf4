import { Readable } from 'node:stream';
import { runConfined } from './confined-process.ts';
import { UnreadableContent, WorkerEnded } from './content-worker.ts';
import { PICTURE_TOO_LARGE } from './picture-limits.ts';
import { UNREADABLE } from './types.ts';

/** A picture in both sizes, as WebP. */
export interface ConvertedPicture {
  readonly small: Uint8Array<ArrayBuffer>;
  readonly large: Uint8Array<ArrayBuffer>;
}

/** The picture has more pixels, or needs more memory, than allowed. */
export class PictureTooLarge extends Error {
  override readonly name = 'PictureTooLarge';
}

const MEBIBYTE = 1024 * 1024;
/** Node and the decoders need some 60 MiB, and some pictures 1.6 times of what is estimated for them. */
const LIMITS = { seconds: 40, memoryBytes: 240 * MEBIBYTE, resultBytes: 2 * MEBIBYTE };

/**
 * Converts an image file (JPEG, PNG, WebP or GIF) to a square picture in both sizes, upright and without metadata, in a process
 * of its own. Rejects with `PictureTooLarge`, `UnreadableContent`, or with `WorkerEnded` if the process reached a limit.
 */
export const convertPicture = async (content: Buffer): Promise<ConvertedPicture> => {
  const { seconds, memoryBytes } = LIMITS;
  const args = ['picture', '', String(seconds), String(memoryBytes)];
  const file = Readable.from([content], { objectMode: false });
  const { code, result } = await runConfined('child/picture-main', args, file, LIMITS);
  if (code === PICTURE_TOO_LARGE) throw new PictureTooLarge(result.toString());
  if (code === UNREADABLE) throw new UnreadableContent(result.toString());
  if (code !== 0) throw new WorkerEnded('The process that converted a picture reached a limit.');
  const end = 4 + result.readUInt32BE();
  return {
    large: new Uint8Array(result.subarray(4, end)),
    small: new Uint8Array(result.subarray(end)),
  };
};
