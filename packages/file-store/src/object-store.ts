import type { Readable } from 'node:stream';
import { isUuid } from '@tessera/fields';

/** The id of an object: nothing else is ever part of a path or a key. */
export interface ObjectId {
  /** A UUID. */
  readonly tenantId: string;
  /** A UUID that is used for one object only. */
  readonly id: string;
}

/** A range of bytes, counted from 0; both ends are included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** An object as lists show it. */
export interface StoredObject extends ObjectId {
  /** The size in bytes as stored: encryption adds to it. */
  readonly size: number;
  readonly storedAt: Date;
}

/** One page of a list. */
export interface ObjectPage {
  readonly objects: readonly StoredObject[];
  /** Where the next page begins; undefined after the last one. */
  readonly next: string | undefined;
}

/** Which page of a list is read. */
export interface PageOptions {
  readonly after?: string | undefined;
  readonly limit: number;
}

/**
 * Where bytes are kept: a folder, or a service such as S3. An object is written once and never changes, because
 * its id is never used again. `testObjectStore` has the tests that every implementation passes.
 */
export interface ObjectStore {
  /** Checks that the store can be used, and creates what it lacks. Throws if it cannot be used. */
  prepare(): Promise<void>;
  /** Throws unless `prepare` has been called on the store, by any process, and it can be used. Creates nothing. */
  requireExisting(): Promise<void>;
  /**
   * Writes an object. It is there as a whole and survives a power failure once this resolves; if the content
   * throws, this rejects with its error and nothing remains. Rejects if the object exists, and with `StoreFull`.
   */
  write(object: ObjectId, content: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Opens an object, or a range of it. Rejects with `ObjectMissing` if there is none, and with `ObjectTruncated` if it
   * ends before the range.
   */
  read(object: ObjectId, range?: ByteRange): Promise<Readable>;
  /** Undefined if there is no such object. */
  head(object: ObjectId): Promise<StoredObject | undefined>;
  /** Deletes an object, and what an interrupted `write` of it has left. Deleting nothing is not an error. */
  delete(object: ObjectId): Promise<void>;
  /** Objects of all tenants in an order that does not change, at most `limit`; `after` is `next` of a page. */
  list(options: PageOptions): Promise<ObjectPage>;
  /** Likewise what is not complete: it is being written, or its `write` was interrupted. `storedAt` is its beginning. */
  listUnfinished(options: PageOptions): Promise<ObjectPage>;
}

/** The store has no room for an object. */
export class StoreFull extends Error {
  constructor(cause: unknown) {
    super('The file store is full.', { cause });
  }
}

/** An object has fewer bytes than it must have. */
export class ObjectTruncated extends Error {
  constructor({ tenantId, id }: ObjectId) {
    super(`The object ${id} of the tenant ${tenantId} was cut off.`);
  }
}

/** The bytes of an encrypted object, or its sealed key, were changed: they do not decrypt. */
export class ObjectDamaged extends Error {
  constructor({ tenantId, id }: ObjectId, cause: unknown) {
    super(`The object ${id} of the tenant ${tenantId} does not decrypt.`, { cause });
  }
}

/** The store has no such object. */
export class ObjectMissing extends Error {
  constructor({ tenantId, id }: ObjectId) {
    super(`The store has no object ${id} of the tenant ${tenantId}.`);
  }
}

const isObjectName = (name: string): boolean => isUuid(name) && name === name.toLowerCase();

/**
 * The path of an object: `<tenant>/<last two digits of the id>/<id>`. Throws a `TypeError` unless both ids are
 * UUIDs in lower case, so that no name from outside becomes part of a path.
 */
export const objectPath = ({ tenantId, id }: ObjectId): readonly [string, string, string] => {
  for (const part of [tenantId, id]) {
    if (typeof part !== 'string' || !isObjectName(part)) {
      throw new TypeError('An object is identified by two UUIDs in lower case.');
    }
  }
  return [tenantId, id.slice(-2), id];
};

/** The object at a path; undefined if it is not the path of an object. */
export const objectAt = (path: readonly string[]): ObjectId | undefined => {
  const [tenantId = '', folder, id = '', ...more] = path;
  if (more.length > 0 || !isObjectName(tenantId) || !isObjectName(id)) return undefined;
  return folder === id.slice(-2) ? { tenantId, id } : undefined;
};
