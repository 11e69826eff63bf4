export {
  createFileStore,
  type FileContent,
  type FileStore,
  FileTooLarge,
  fileKeyPurpose,
  type StoredFile,
  storedSize,
} from './file-store.ts';
export { createFolderStore } from './folder-store.ts';
export {
  type ByteRange,
  ObjectDamaged,
  type ObjectId,
  ObjectMissing,
  type ObjectPage,
  type ObjectStore,
  ObjectTruncated,
  objectAt,
  objectPath,
  type PageOptions,
  type StoredObject,
  StoreFull,
} from './object-store.ts';
export { createS3Store, type S3Options } from './s3-store.ts';
