/** The largest file that can be read, in bytes. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The media types of files whose text can be extracted. */
export const textTypes = [
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const;

/** The media types of images that get a thumbnail. Not SVG, which can contain scripts and references. */
export const imageTypes = [
  'image/png',
  'image/jpeg',
  'image/webp',
  'image/gif',
  'image/avif',
] as const;

export type TextType = (typeof textTypes)[number];
export type ImageType = (typeof imageTypes)[number];

export const isTextType = (type: string): type is TextType =>
  (textTypes as readonly string[]).includes(type);

export const isImageType = (type: string): type is ImageType =>
  (imageTypes as readonly string[]).includes(type);

/** The exit code of a process whose file cannot be read, as opposed to one that has crashed. */
export const UNREADABLE = 3;
