import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createVault } from '@tessera/vault';
import { CHUNK, decrypt, encrypt, sealedSize } from './encryption.ts';
import { createFileStore, type FileContent } from './file-store.ts';
import { createFolderStore } from './folder-store.ts';
import { ObjectDamaged, type ObjectId, ObjectTruncated, objectPath } from './object-store.ts';
import { bytesOf, inParts, newObject } from './testing/index.ts';

const keyOf = (id: string) => ({ id, secret: randomBytes(32) });
const [older, newer] = [keyOf('2025'), keyOf('2026')];

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-store-'));
});
afterEach(() => rm(folder, { recursive: true }));

const filesUnder = async (keys = [older]) => {
  const files = createFileStore(createFolderStore(folder), createVault(keys));
  await files.prepare();
  return files;
};

const put = async (content: Buffer): Promise<FileContent> => {
  const files = await filesUnder();
  const object = newObject();
  const { size, sealedKey } = await files.put(object, inParts(content, 10_000), { maxBytes: 1e9 });
  return { tenantId: object.tenantId, id: object.id, size, sealedKey };
};

const pathOf = (object: ObjectId): string => join(folder, ...objectPath(object));

test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 7])(
  'An encrypted file of %i bytes is read as it was stored, as a whole and in every kind of range',
  async (length) => {
    const content = randomBytes(length);
    const file = await put(content);
    const files = await filesUnder();
    expect(await bytesOf(await files.get(file))).toEqual(content);
    expect(await readFile(pathOf(file))).toHaveLength(sealedSize(length));
    const ends = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, length - 2, length - 1];
    const edges = [...new Set(ends)].filter((at) => at >= 0 && at < length);
    for (const start of edges) {
      for (const end of edges.filter((at) => at >= start)) {
        const range = await bytesOf(await files.get(file, { start, end }));
        expect(range.equals(content.subarray(start, end + 1))).toBe(true);
      }
    }
  },
);

test('The content of an encrypted file is not on the disk, and is different each time', async () => {
  const content = Buffer.from('a secret sentence '.repeat(10_000));
  const [first, second] = [await put(content), await put(content)];
  const stored = await readFile(pathOf(first));
  expect(stored.includes('secret')).toBe(false);
  expect(stored.equals(await readFile(pathOf(second)))).toBe(false);
});

test('A file that was changed, cut off or reordered on the disk does not decrypt', async () => {
  const file = await put(randomBytes(3 * CHUNK));
  const files = await filesUnder();
  const stored = await readFile(pathOf(file));
  const size = stored.length / 3;
  const chunk = (n: number) => stored.subarray(n * size, (n + 1) * size);
  const flipped = Buffer.from(stored);
  flipped.writeUInt8(flipped.readUInt8(100_000) ^ 1, 100_000);
  const damaged = [
    flipped,
    Buffer.concat([chunk(1), chunk(0), chunk(2)]),
    Buffer.concat([chunk(0), chunk(2)]),
    Buffer.concat([chunk(0), chunk(1), chunk(1)]),
  ];
  for (const bytes of damaged) {
    await writeFile(pathOf(file), bytes);
    const kind = bytes.length < stored.length ? ObjectTruncated : ObjectDamaged;
    await expect(files.get(file).then(bytesOf)).rejects.toThrow(kind);
  }
  await writeFile(pathOf(file), stored);
  await truncate(pathOf(file), 2 * size);
  await expect(files.get(file)).rejects.toThrow('cut off');
  await expect(files.get({ ...file, size: 2 * CHUNK }).then(bytesOf)).rejects.toThrow(
    ObjectDamaged,
  );
  // Whatever the store says of its size.
  const key = randomBytes(32);
  const content = randomBytes(2 * CHUNK);
  const [first = Buffer.alloc(0)] = await Readable.from(encrypt(inParts(content), key)).toArray();
  const part = { object: newObject(), size: 2 * CHUNK };
  const cutOff = decrypt(inParts(first), key, { ...part, range: { start: 0, end: 2 } });
  expect(await Readable.from(cutOff).toArray()).toHaveLength(1);
  const range = { start: 0, end: CHUNK };
  const further = decrypt(inParts(first), key, { ...part, range });
  await expect(Readable.from(further).toArray()).rejects.toThrow(ObjectDamaged);
});

test('A file that was stored without encryption and was cut off is an error', async () => {
  const plain = createFileStore(createFolderStore(folder), undefined);
  await plain.prepare();
  const object = newObject();
  const { size, sealedKey } = await plain.put(object, inParts(Buffer.from('abc')), { maxBytes: 9 });
  await truncate(pathOf(object), 2);
  const { tenantId, id } = object;
  await expect(plain.get({ tenantId, id, size, sealedKey })).rejects.toThrow('cut off');
});

test('A file opens with its own key only, and with every key that is configured', async () => {
  const [file, other] = [await put(Buffer.from('a')), await put(Buffer.from('b'))];
  const both = await filesUnder([newer, older]);
  expect(String(await bytesOf(await both.get(file)))).toBe('a');
  const swapped: FileContent = { ...file, sealedKey: other.sealedKey };
  await expect(both.get(swapped)).rejects.toThrow(ObjectDamaged);
  await expect((await filesUnder([newer])).get(file)).rejects.toThrow('lacks the key "2025"');
  const withoutVault = createFileStore(createFolderStore(folder), undefined);
  await expect(withoutVault.get(file)).rejects.toThrow('the file is encrypted');
});

test('The key of a file is sealed again under a new key without touching the file', async () => {
  const file = await put(Buffer.from('a'));
  const vault = createVault([newer, older]);
  const renewed = vault.renew(file.sealedKey ?? Buffer.alloc(0), `file ${file.id}`);
  const rotated: FileContent = { ...file, sealedKey: renewed ?? null };
  expect(String(await bytesOf(await (await filesUnder([newer])).get(rotated)))).toBe('a');
});

test('Files that were stored before there was a key are still read', async () => {
  const plain = createFileStore(createFolderStore(folder), undefined);
  await plain.prepare();
  const object = newObject();
  const { size, sealedKey } = await plain.put(object, inParts(Buffer.from('a')), { maxBytes: 1 });
  const file = { tenantId: object.tenantId, id: object.id, size, sealedKey };
  expect(String(await bytesOf(await (await filesUnder()).get(file)))).toBe('a');
});

test('A stream that is closed early closes the file', async () => {
  const file = await put(randomBytes(3 * CHUNK));
  const stream = await (await filesUnder()).get(file);
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.destroy();
  await closed;
  expect(stream.destroyed).toBe(true);
});
