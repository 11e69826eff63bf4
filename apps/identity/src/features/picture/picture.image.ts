import { HttpError, invalidField } from '@tessera/http-kit';
import pLimit from 'p-limit';
import type { PictureFiles } from './picture.files.ts';

/** Accepted media types. The decoder, not the header, decides what a file is. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
/** Maximum file size. */
export const MAX_BYTES = 10 * 1024 * 1024;
/** Maximum length of the queue. */
const MAX_QUEUED = 8;

/** Loaded with the first picture: the decoders take 16 MB. */
const decoders = () => import('./picture.decoders.ts');

/** Converts one picture at a time to bound memory: decoded, the largest picture takes 200 MB. */
const queue = pLimit(1);

/** 422 on `picture`: not an image of an accepted type. */
const unreadable = (cause: unknown): HttpError => {
  const message = 'must be a JPEG, PNG, WebP or GIF image of at most 50 megapixels';
  const { errors } = invalidField('picture', message);
  return new HttpError(422, 'validation_failed', 'The picture could not be read.', {
    errors: errors ?? {},
    cause,
  });
};

/** 503: the queue is full. */
const overloaded = (): HttpError =>
  new HttpError(
    503,
    'overloaded',
    'Too many pictures are being converted. Try again in a few seconds.',
    {
      headers: { 'Retry-After': '5' },
    },
  );

/**
 * Converts an image file to a profile picture: rotated upright, cropped to a square, in both sizes, without
 * metadata. 422 on `picture` if the file is not an image of an accepted type, 503 if the queue is full.
 */
export const pictureOf = async (content: Buffer): Promise<PictureFiles> => {
  if (queue.pendingCount >= MAX_QUEUED) throw overloaded();
  return queue(async () => {
    const { convert } = await decoders();
    return convert(content).catch((error: unknown) => {
      throw unreadable(error);
    });
  });
};
