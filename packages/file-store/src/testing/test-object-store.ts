import { randomBytes, randomUUID } from 'node:crypto';
import { createFileStore, FileTooLarge } from '../file-store.ts';
import {
  type ObjectId,
  ObjectMissing,
  type ObjectStore,
  ObjectTruncated,
} from '../object-store.ts';
import { bytesOf, inParts, newObject } from './contents.ts';

/** All objects of a store, read in pages of this size. */
const listed = async (store: ObjectStore, limit: number): Promise<ObjectId[]> => {
  const all: ObjectId[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({ after, limit });
    expect(page.objects.length).toBeLessThanOrEqual(limit);
    all.push(...page.objects.map(({ tenantId, id }) => ({ tenantId, id })));
    after = page.next;
  } while (after !== undefined);
  return all;
};

/**
 * Defines the tests that every object store passes. `create` returns an empty store for each test, on which
 * `prepare` has not been called.
 */
export const testObjectStore = (name: string, create: () => Promise<ObjectStore>): void => {
  describe(`Files in ${name}`, () => {
    const content = randomBytes(200_000);
    let store: ObjectStore;

    beforeEach(async () => {
      store = await create();
      await store.prepare();
    });

    const write = async (object = newObject(), bytes = content): Promise<ObjectId> => {
      await store.write(object, inParts(bytes));
      return object;
    };

    test('are read as they were written', async () => {
      const object = await write();
      expect(await bytesOf(await store.read(object))).toEqual(content);
      expect(await store.head(object)).toEqual({
        tenantId: object.tenantId,
        id: object.id,
        size: content.length,
        storedAt: expect.any(Date),
      });
    });

    test('may be empty', async () => {
      const object = await write(newObject(), Buffer.alloc(0));
      expect(await bytesOf(await store.read(object))).toHaveLength(0);
      expect(await store.head(object)).toMatchObject({ size: 0 });
    });

    test.each([
      [0, 0],
      [0, 999],
      [65_535, 65_536],
      [131_072, 199_999],
      [199_999, 199_999],
    ])('are read from byte %i to byte %i', async (start, end) => {
      const range = await store.read(await write(), { start, end });
      expect(await bytesOf(range)).toEqual(content.subarray(start, end + 1));
    });

    test('that are shorter than the range that is read are reported as cut off', async () => {
      const object = await write();
      for (const start of [0, 199_999, 200_000]) {
        await expect(store.read(object, { start, end: 200_000 })).rejects.toThrow(ObjectTruncated);
      }
    });

    test('that do not exist are missing, in the same tenant and in others', async () => {
      const { id, tenantId } = await write();
      for (const object of [newObject(tenantId), { tenantId: randomUUID(), id }]) {
        await expect(store.read(object)).rejects.toThrow(ObjectMissing);
        await expect(store.read(object, { start: 0, end: 0 })).rejects.toThrow(ObjectMissing);
        expect(await store.head(object)).toBeUndefined();
      }
    });

    test('are deleted once and for all; deleting again does nothing', async () => {
      const [object, other] = [await write(), await write()];
      await store.delete(object);
      await store.delete(object);
      await store.delete(newObject());
      expect(await store.head(object)).toBeUndefined();
      await expect(store.read(object)).rejects.toThrow(ObjectMissing);
      expect(await bytesOf(await store.read(other))).toEqual(content);
    });

    test('are not there at all if their content fails', async () => {
      const object = newObject();
      const failing = async function* () {
        yield content;
        throw new Error('The client has disconnected.');
      };
      await expect(store.write(object, failing())).rejects.toThrow('The client has disconnected.');
      expect(await store.head(object)).toBeUndefined();
      expect(await listed(store, 10)).toEqual([]);
      await write(object);
      expect(await bytesOf(await store.read(object))).toEqual(content);
    });

    test('are not there while they are written', async () => {
      const object = newObject();
      const slow = async function* () {
        yield content;
        expect(await store.head(object)).toBeUndefined();
        expect(await listed(store, 10)).toEqual([]);
      };
      await store.write(object, slow());
      expect(await listed(store, 10)).toEqual([object]);
    });

    test('that are large are unfinished until they are complete', async () => {
      const [object, other] = [newObject(), newObject()];
      const unfinished = async () => (await store.listUnfinished({ limit: 1 })).objects;
      const large = randomBytes(20_000_000);
      const slow = async function* () {
        yield* inParts(large, 1_000_000);
        expect(await unfinished()).toMatchObject([object]);
        await store.delete(other);
        expect(await unfinished()).toMatchObject([object]);
      };
      await store.write(object, slow());
      expect((await bytesOf(await store.read(object))).equals(large)).toBe(true);
      const failing = async function* () {
        yield* inParts(large, 1_000_000);
        throw new Error('The client has disconnected.');
      };
      await expect(store.write(other, failing())).rejects.toThrow('The client has disconnected.');
      expect(await unfinished()).toEqual([]);
    });

    test('are never replaced', async () => {
      const object = await write();
      await expect(store.write(object, inParts(Buffer.from('other')))).rejects.toThrow();
      expect(await bytesOf(await store.read(object))).toEqual(content);
    });

    test('are listed in pages, each once, whatever the size of the pages', async () => {
      const tenants = [randomUUID(), randomUUID(), randomUUID()];
      const written: ObjectId[] = [];
      for (let n = 0; n < 12; n += 1) {
        written.push(await write(newObject(tenants[n % 3]), Buffer.from(`${n}`)));
      }
      const all = await listed(store, 100);
      const inOrder = (objects: readonly ObjectId[]) => objects.map(({ id }) => id).sort();
      expect(inOrder(all)).toEqual(inOrder(written));
      for (const limit of [1, 5, 12]) expect(await listed(store, limit)).toEqual(all);
    });

    test('cannot be named by anything but two UUIDs', async () => {
      const { tenantId, id } = newObject();
      const names = ['', '..', '../x', `../${id}`, '/etc/passwd', `${id}\0`, `${id}/..`, 'C:\\x'];
      for (const bad of [...names, id.toUpperCase(), `%2e%2e%2f${id}`]) {
        for (const object of [
          { tenantId, id: bad },
          { tenantId: bad, id },
        ]) {
          await expect(store.write(object, inParts(content))).rejects.toThrow(TypeError);
          await expect(store.read(object)).rejects.toThrow(TypeError);
          await expect(store.head(object)).rejects.toThrow(TypeError);
          await expect(store.delete(object)).rejects.toThrow(TypeError);
        }
      }
    });

    test('are hashed and measured while they are stored, and stored up to their limit', async () => {
      const files = createFileStore(store, undefined);
      const [object, tooLarge] = [newObject(), newObject()];
      const hello = Buffer.from('hello');
      const stored = await files.put(object, inParts(hello), { maxBytes: 5 });
      expect(stored).toEqual({
        sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
        size: 5,
        sealedKey: null,
      });
      await expect(files.put(tooLarge, inParts(hello), { maxBytes: 4 })).rejects.toThrow(
        FileTooLarge,
      );
      expect(await files.has(tooLarge)).toBe(false);
      expect(await files.has(object)).toBe(true);
    });
  });
};
