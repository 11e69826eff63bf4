import sharp, { type Metadata, type Sharp } from 'sharp';
import { type PictureFiles, sizes } from './picture.files.ts';
import { withoutTexts } from './picture.png.ts';

/** Phone cameras take fewer pixels. */
export const MAX_PIXELS = 50_000_000;
/** The longest side in pixels: several rows are in memory at once. */
const MAX_SIDE = 16_384;
/** How much memory a picture may need while it is decoded, in bytes. */
export const MAX_DECODED_BYTES = 100_000_000;
const TIMEOUT_SECONDS = 10;

/** The picture would need more memory than MAX_DECODED_BYTES, or has more pixels or longer sides than allowed. */
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
    width * height > MAX_PIXELS ||
    Math.max(width, height) > MAX_SIDE ||
    decodedBytesOf(metadata) > MAX_DECODED_BYTES;
  if (isTooLarge) throw new PictureTooLarge(`${metadata.format} of ${width} x ${height} pixels`);
};

const webp = async (image: Sharp): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await image.webp({ quality: 82 }).toBuffer());

/**
 * Rotates an image upright and crops it to a square in both sizes. Rejects with PictureTooLarge before anything is decoded,
 * and with another error if the image cannot be decoded. May change the bytes of `given`.
 */
export const convert = async (given: Buffer): Promise<PictureFiles> => {
  const content = withoutTexts(given);
  requireDecodable(await sharp(content, { limitInputPixels: false }).metadata());
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
