import sharp from 'sharp';

/** Limits decompression bombs; phone cameras take fewer pixels. */
const MAX_PIXELS = 50_000_000;

/** The longer side of a thumbnail in pixels, at most. */
const SIDE = 512;

// Only these decoders are enabled. Heif decodes AVIF.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map(
    (format) => `VipsForeignLoad${format}Buffer`,
  ),
});
sharp.cache(false);
sharp.concurrency(1);

/** An image, upright and without metadata, as a small WebP. Rejects if it is damaged or too large. */
export const thumbnailOf = (content: Buffer): Promise<Buffer> =>
  sharp(content, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .autoOrient()
    .resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .webp({ quality: 80 })
    .toBuffer();
