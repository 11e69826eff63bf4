/** The media types of files of which the text can be extracted. */
export const textTypes = [
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
] as const;

/** The media types of images of which a thumbnail can be made. SVG is a program, not an image. */
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
