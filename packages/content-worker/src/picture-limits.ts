/** The pixels of a picture; phone cameras take fewer. */
export const MAX_PICTURE_PIXELS = 50_000_000;
/** How much memory a picture may need while it is decoded, in bytes. */
export const MAX_PICTURE_MEMORY = 100_000_000;
/** The longest side in pixels: several rows are in memory at once. */
export const MAX_PICTURE_SIDE = 16_384;
/** The side lengths of a converted picture: for normal and for high-density screens. */
export const pictureSides = { small: 256, large: 512 } as const;
/** The exit code for a picture that exceeds a limit. */
export const PICTURE_TOO_LARGE = 4;
