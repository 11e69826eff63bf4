/** Side lengths in pixels: for normal and for high-density screens. */
export const sizes = { small: 256, large: 512 } as const;

/** A picture in both sizes as WebP. */
export interface PictureFiles {
  readonly small: Uint8Array<ArrayBuffer>;
  readonly large: Uint8Array<ArrayBuffer>;
}
