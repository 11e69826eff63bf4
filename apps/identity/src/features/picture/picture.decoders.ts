import sharp, { type Sharp } from 'sharp';
import { type PictureFiles, sizes } from './picture.files.ts';

/** Limits decompression bombs; phone cameras take fewer pixels. */
const MAX_PIXELS = 50_000_000;
const TIMEOUT_SECONDS = 10;

// Only these decoders are enabled.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});
// No cache is needed, and one picture must not occupy every core.
sharp.cache(false);
sharp.concurrency(1);

const webp = async (image: Sharp): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await image.webp({ quality: 82 }).toBuffer());

/** Rotates an image upright and crops it to a square in both sizes. Rejects if it cannot be decoded. */
export const convert = async (content: Buffer): Promise<PictureFiles> => {
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
