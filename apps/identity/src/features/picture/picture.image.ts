import {
  type ConvertedPicture,
  convertPicture,
  MAX_PICTURE_MEMORY,
  MAX_PICTURE_PIXELS,
  PictureTooLarge,
} from '@tessera/content-worker';
import { FairQueue, QueueFull } from '@tessera/fair-shares';
import { HttpError, invalidField } from '@tessera/http-kit';

/** Accepted media types. The decoder, not the header, decides what a file is. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
/** Maximum file size. */
export const MAX_BYTES = 10 * 1024 * 1024;
/** Within which the whole file must arrive, in milliseconds: 10 MB at 1.4 Mbit/s. */
export const DEADLINE_MS = 60_000;
/** How many pictures may wait to be converted. */
const MAX_WAITING = 16;
const MAX_WAIT_MS = 60_000;

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

const converted = (content: Buffer): Promise<ConvertedPicture> =>
  convertPicture(content).catch((cause: unknown) => {
    if (!(cause instanceof PictureTooLarge)) {
      throw unusable('must be a JPEG, PNG, WebP or GIF image', cause);
    }
    const limits = `${MAX_PICTURE_PIXELS / 1e6} megapixels and ${MAX_PICTURE_MEMORY / 1e6} MB when it is decoded`;
    throw unusable(`must have at most ${limits}; save it smaller or without interlacing`, cause, {
      max_pixels: MAX_PICTURE_PIXELS,
      max_decoded_bytes: MAX_PICTURE_MEMORY,
    });
  });

/**
 * Converts image files, one at a time and in a process of its own: it takes up to 240 MB and a core. Tenants take turns (the key is the tenant, or
 * the account of somebody without one), and no tenant has more than half of the places that wait.
 */
export class PictureConversions {
  readonly #queue = new FairQueue({
    concurrency: 1,
    waiting: MAX_WAITING,
    maxWaitMs: MAX_WAIT_MS,
  });

  /**
   * A profile picture in both sizes: rotated upright, cropped to a square, without metadata.
   * 422 on `picture` if the file is not an image of an accepted type and size, 503 if the queue is full.
   */
  async convert(key: string, content: Buffer): Promise<ConvertedPicture> {
    try {
      return await this.#queue.run(key, () => converted(content));
    } catch (error) {
      throw error instanceof QueueFull ? overloaded() : error;
    }
  }
}
