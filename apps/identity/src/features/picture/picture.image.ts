import { FairQueue, QueueFull } from '@tessera/fair-shares';
import { HttpError, invalidField } from '@tessera/http-kit';
import type { PictureFiles } from './picture.files.ts';

/** Accepted media types. The decoder, not the header, decides what a file is. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
/** Maximum file size. */
export const MAX_BYTES = 10 * 1024 * 1024;
/** How many pictures may wait to be converted. */
const MAX_WAITING = 16;
const MAX_WAIT_MS = 30_000;

/** Loaded with the first picture: the decoders take 16 MB. */
const decoders = () => import('./picture.decoders.ts');

/** 422 on `picture`. */
const unusable = (message: string, cause: unknown, details?: Record<string, number>): HttpError => {
  const { errors } = invalidField('picture', message);
  return new HttpError(422, 'validation_failed', 'The picture could not be read.', {
    errors: errors ?? {},
    details: details ?? {},
    cause,
  });
};

/** 503: too many pictures are received or converted. */
export const overloaded = (): HttpError =>
  new HttpError(
    503,
    'overloaded',
    'Too many pictures are being converted. Try again in a few seconds.',
    {
      headers: { 'Retry-After': '5' },
    },
  );

const converted = async (content: Buffer): Promise<PictureFiles> => {
  const { convert, MAX_DECODED_BYTES, MAX_PIXELS, PictureTooLarge } = await decoders();
  return convert(content).catch((cause: unknown) => {
    if (!(cause instanceof PictureTooLarge)) {
      throw unusable('must be a JPEG, PNG, WebP or GIF image', cause);
    }
    const limits = `${MAX_PIXELS / 1e6} megapixels and ${MAX_DECODED_BYTES / 1e6} MB when it is decoded`;
    throw unusable(`must have at most ${limits}; save it smaller or without interlacing`, cause, {
      max_pixels: MAX_PIXELS,
      max_decoded_bytes: MAX_DECODED_BYTES,
    });
  });
};

/**
 * Converts image files, one at a time: decoding takes up to 100 MB and a core. Tenants take turns (the key is the tenant, or
 * the account of somebody without one), and no tenant has more than half of the places that wait.
 */
export class PictureConversions {
  readonly #queue = new FairQueue({
    concurrency: 1,
    waiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });

  /**
   * A profile picture in both sizes: rotated upright, cropped to a square, without metadata. May change the bytes of `content`.
   * 422 on `picture` if the file is not an image of an accepted type and size, 503 if the queue is full.
   */
  async convert(key: string, content: Buffer): Promise<PictureFiles> {
    try {
      return await this.#queue.run(key, () => converted(content));
    } catch (error) {
      throw error instanceof QueueFull ? overloaded() : error;
    }
  }
}
