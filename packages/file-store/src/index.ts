export {
  createFileStore,
  type FileContent,
  type FileStore,
  FileTooLarge,
  fileKeyPurpose,
  type StoredFile,
} from './file-store.ts';
export { createFolderStore } from './folder-store.ts';
export {
  type ByteRange,
  type ObjectId,
  ObjectMissing,
  type ObjectPage,
  type ObjectStore,
  objectAt,
  objectPath,
  type StoredObject,
} from './object-store.ts';
