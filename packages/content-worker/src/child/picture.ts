import sharp, { type Metadata, type Sharp } from 'sharp';
import {
  MAX_PICTURE_MEMORY,
  MAX_PICTURE_PIXELS,
  MAX_PICTURE_SIDE,
  pictureSides,
} from '../picture-limits.ts';
import { withoutTexts } from './png.ts';

const TIMEOUT_SECONDS = 10;

/** The picture has more pixels or longer sides than allowed, or would need more memory. */
export class PictureTooLarge extends Error {
  override readonly name = 'PictureTooLarge';
}

// Only these decoders are enabled.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});
// No cache is needed, and one picture must not occupy every core.
sharp.cache(false);
sharp.concurrency(1);

/** The rows that are in memory at once if a decoder reads from top to bottom; measured with libvips 8.18. */
const ROWS_AT_ONCE = 2048;

/** The measured memory of one pixel in bytes, of decoders that keep the whole image; undefined for others. */
const bytesOfWholePixel = ({ format, channels, depth, isProgressive, pages = 1 }: Metadata) => {
  // The canvas and the frame before, with an opacity each, whatever the palette has.
  if (format === 'gif') return 8;
  if (format === 'webp') return pages > 1 ? 8 : 4;
  // Several scans: the coefficients of all channels, in two bytes each.
  if (format === 'jpeg' && isProgressive) return 2 * channels;
  // Interlaced.
  if (format === 'png' && isProgressive) return channels * (depth === 'ushort' ? 2 : 1);
  return undefined;
};

/** How many bytes of memory a picture needs while it is decoded, at most. */
const decodedBytesOf = (metadata: Metadata): number => {
  const { width, height, channels, depth } = metadata;
  const ofWhole = bytesOfWholePixel(metadata);
  if (ofWhole !== undefined) return width * height * ofWhole;
  return width * Math.min(height, ROWS_AT_ONCE) * channels * (depth === 'ushort' ? 2 : 1);
};

/** Throws PictureTooLarge according to the header, which is all that has been read. */
const requireDecodable = (metadata: Metadata): void => {
  const { width, height } = metadata;
  const isTooLarge =
    width * height > MAX_PICTURE_PIXELS ||
    Math.max(width, height) > MAX_PICTURE_SIDE ||
    decodedBytesOf(metadata) > MAX_PICTURE_MEMORY;
  if (isTooLarge) throw new PictureTooLarge(`${metadata.format} of ${width} x ${height} pixels`);
};

const webp = (image: Sharp): Promise<Buffer> => image.webp({ quality: 82 }).toBuffer();

/**
 * Rotates an image upright and crops it to a square; returns it as WebP in both sizes, the small one after the large one, with
 * the length of the large one in four bytes before them. Rejects with PictureTooLarge before anything is decoded, and with
 * another error if the image cannot be decoded. May change the bytes of `given`.
 */
export const pictureOf = async (given: Buffer): Promise<Buffer> => {
  const content = withoutTexts(given);
  requireDecodable(await sharp(content, { limitInputPixels: false }).metadata());
  const { small: smallSide, large: side } = pictureSides;
  const input = { limitInputPixels: MAX_PICTURE_PIXELS, failOn: 'error' } as const;
  const { data, info } = await sharp(content, input)
    .timeout({ seconds: TIMEOUT_SECONDS })
    .autoOrient()
    .resize(side, side, { fit: 'cover' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const square = () => sharp(data, { raw: { width, height, channels } });
  const [large, small] = [await webp(square()), await webp(square().resize(smallSide, smallSide))];
  const length = Buffer.alloc(4);
  length.writeUInt32BE(large.length);
  return Buffer.concat([length, large, small]);
};
