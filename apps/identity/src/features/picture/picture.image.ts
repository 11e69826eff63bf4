import { HttpError, invalidField } from '@tessera/http-kit';
import pLimit from 'p-limit';
import sharp, { type Sharp } from 'sharp';

/** Accepted media types. The decoder, not the header, decides what a file is. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
/** Maximum file size. */
export const MAX_BYTES = 10 * 1024 * 1024;
/** Limits decompression bombs; phone cameras take fewer pixels. */
const MAX_PIXELS = 50_000_000;
const TIMEOUT_SECONDS = 10;
/** Maximum length of the queue. */
const MAX_QUEUED = 8;

/** Side lengths in pixels: for normal and for high-density screens. */
export const sizes = { small: 256, large: 512 } as const;

/** A picture in both sizes as WebP. */
export interface PictureFiles {
  readonly small: Uint8Array<ArrayBuffer>;
  readonly large: Uint8Array<ArrayBuffer>;
}

// Only these decoders are enabled.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});
// No cache is needed, and one picture must not occupy every core.
sharp.cache(false);
sharp.concurrency(1);

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

const webp = async (image: Sharp): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await image.webp({ quality: 82 }).toBuffer());

const convert = async (content: Buffer): Promise<PictureFiles> => {
  const { data, info } = await sharp(content, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .timeout({ seconds: TIMEOUT_SECONDS })
    .autoOrient()
    .resize(sizes.large, sizes.large, { fit: 'cover' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const square = () => sharp(data, { raw: { width, height, channels } });
  return {
    large: await webp(square()),
    small: await webp(square().resize(sizes.small, sizes.small)),
  };
};

/**
 * Converts an image file to a profile picture: rotated upright, cropped to a square, in both sizes, without
 * metadata. 422 on `picture` if the file is not an image of an accepted type, 503 if the queue is full.
 */
export const pictureOf = async (content: Buffer): Promise<PictureFiles> => {
  if (queue.pendingCount >= MAX_QUEUED) throw overloaded();
  return queue(() =>
    convert(content).catch((error: unknown) => {
      throw unreadable(error);
    }),
  );
};
