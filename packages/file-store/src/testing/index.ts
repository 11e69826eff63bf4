export { bytesOf, inParts, newObject } from './contents.ts';
export { testObjectStore } from './test-object-store.ts';
