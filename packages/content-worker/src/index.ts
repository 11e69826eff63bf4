export {
  type ContentWorker,
  createContentWorker,
  UnreadableContent,
  WorkerEnded,
  type WorkerLimits,
} from './content-worker.ts';
export { type ConvertedPicture, convertPicture, PictureTooLarge } from './picture.ts';
export { MAX_PICTURE_MEMORY, MAX_PICTURE_PIXELS, pictureSides } from './picture-limits.ts';
export { sourceFlags } from './source-flags.ts';
export {
  type ImageType,
  imageTypes,
  isImageType,
  isTextType,
  MAX_FILE_BYTES,
  type TextType,
  textTypes,
} from './types.ts';
export { type Words, wordsOf } from './words.ts';
