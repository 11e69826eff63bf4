import { HttpError, invalidField } from '@tessera/http-kit';
import pLimit from 'p-limit';
import sharp, { type Sharp } from 'sharp';

/** Media types of pictures that are taken. What a file really is, its content tells. */
export const pictureTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'] as const;
/** Largest file that is taken. */
export const MOST_BYTES = 10 * 1024 * 1024;
/** A small file may unpack to any number of pixels: more than a phone takes are refused. */
const MOST_PIXELS = 50_000_000;
const SECONDS = 10;
/** Pictures that may wait for their turn. */
const MOST_WAITING = 8;

/** The side of a picture in pixels: as it is shown, and for screens with twice the pixels. */
export const sizes = { small: 256, large: 512 } as const;

/** A picture in both sizes, as WebP. */
export interface PictureFiles {
  readonly small: Uint8Array<ArrayBuffer>;
  readonly large: Uint8Array<ArrayBuffer>;
}

// Whatever a file is called, these are the only decoders that see it.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});
// Nothing is read twice, and a picture is no reason to take every core.
sharp.cache(false);
sharp.concurrency(1);

/** One at a time, so that memory is bounded: unpacked, the largest picture takes 200 MB. */
const turn = pLimit(1);

/** 422 on `picture`: no picture, or none that is taken. */
const unreadable = (cause: unknown): HttpError => {
  const message = 'must be a JPEG, PNG, WebP or GIF image of at most 50 megapixels';
  const { errors } = invalidField('picture', message);
  return new HttpError(422, 'validation_failed', 'The picture cannot be read.', {
    errors: errors ?? {},
    cause,
  });
};

/** 503: enough pictures wait already. */
const overloaded = (): HttpError =>
  new HttpError(503, 'overloaded', 'Too many pictures are being converted. Try again.', {
    headers: { 'Retry-After': '5' },
  });

const webp = async (image: Sharp): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await image.webp({ quality: 82 }).toBuffer());

const convert = async (content: Buffer): Promise<PictureFiles> => {
  const { data, info } = await sharp(content, { limitInputPixels: MOST_PIXELS, failOn: 'error' })
    .timeout({ seconds: SECONDS })
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
 * Makes a profile picture of a file: upright, cut to a square from its middle, in both sizes, without any
 * metadata. 422 on `picture` where the file cannot be read as an image of a type that is taken, 503 where too many
 * wait.
 */
export const pictureOf = async (content: Buffer): Promise<PictureFiles> => {
  if (turn.pendingCount >= MOST_WAITING) throw overloaded();
  return turn(() =>
    convert(content).catch((error: unknown) => {
      throw unreadable(error);
    }),
  );
};
