import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createFolderStore } from './folder-store.ts';
import { objectPath } from './object-store.ts';
import { bytesOf, inParts, newObject, testObjectStore } from './testing/index.ts';

const folders: string[] = [];
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'file-store-'));
  folders.push(folder);
  return folder;
};
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

testObjectStore('a folder', async () => createFolderStore(join(await newFolder(), 'files')));

const storeIn = async (folder: string) => {
  const store = createFolderStore(folder);
  await store.prepare();
  return store;
};

test('A folder that no store has prepared is refused, and not created', async () => {
  const parent = await newFolder();
  const missing = join(parent, 'files');
  for (const folder of [parent, missing]) {
    await expect(createFolderStore(folder).requireExisting()).rejects.toThrow(
      `${folder} is not the folder of a file store.`,
    );
  }
  expect(await readdir(parent)).toEqual([]);
  await storeIn(missing);
  await createFolderStore(missing).requireExisting();
});

test('Files and folders can be read by the user of the service only', async () => {
  const folder = join(await newFolder(), 'files');
  const store = await storeIn(folder);
  const object = newObject();
  await store.write(object, inParts(Buffer.from('secret')));
  const [tenant, shard, name] = objectPath(object);
  const modes = await Promise.all(
    [[], [tenant], [tenant, shard], [tenant, shard, name]].map(
      async (path) => (await stat(join(folder, ...path))).mode & 0o777,
    ),
  );
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
});

test('A symbolic link in place of a file, of its folder or of the temporary file is refused', async () => {
  const [folder, outside] = [await newFolder(), await newFolder()];
  const store = await storeIn(folder);
  const secret = join(outside, 'secret');
  await writeFile(secret, 'secret');

  const file = newObject();
  const [tenant, shard, name] = objectPath(file);
  await mkdir(join(folder, tenant, shard), { recursive: true });
  await symlink(secret, join(folder, tenant, shard, name));
  await expect(store.read(file)).rejects.toThrow();
  await expect(store.head(file)).rejects.toThrow();
  await expect(store.delete(file)).rejects.toThrow();
  await expect(store.write(file, inParts(Buffer.from('x')))).rejects.toThrow();
  expect((await store.list({ limit: 10 })).objects).toEqual([]);

  const below = newObject();
  await symlink(outside, join(folder, below.tenantId));
  await expect(store.write(below, inParts(Buffer.from('x')))).rejects.toThrow('not a directory');
  await expect(store.read(below)).rejects.toThrow();

  const incoming = newObject();
  await symlink(secret, join(folder, '.incoming', `${incoming.tenantId}.${incoming.id}`));
  await expect(store.write(incoming, inParts(Buffer.from('x')))).rejects.toThrow('EEXIST');

  expect(await readFile(secret, 'utf8')).toBe('secret');
  expect(await readdir(outside)).toEqual(['secret']);
});

test('Other files in the folder are neither listed nor read', async () => {
  const folder = await newFolder();
  const store = await storeIn(folder);
  await mkdir(join(folder, 'lost+found', 'x'), { recursive: true });
  await writeFile(join(folder, 'lost+found', 'x', 'file'), '');
  await writeFile(join(folder, 'README'), '');
  expect(await store.list({ limit: 10 })).toEqual({ objects: [], next: undefined });
});

test('A process that is killed while it writes leaves no object, and deleting it removes the rest', async () => {
  const folder = await newFolder();
  const store = await storeIn(folder);
  const object = newObject();
  const script = fileURLToPath(new URL('testing/write-forever.ts', import.meta.url));
  const writer = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', script, folder, object.tenantId, object.id],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(writer.stdout, 'data');
  writer.kill('SIGKILL');
  await once(writer, 'exit');
  expect(await readdir(join(folder, '.incoming'))).toHaveLength(1);
  expect(await store.head(object)).toBeUndefined();
  expect((await store.list({ limit: 10 })).objects).toEqual([]);
  await store.delete(object);
  expect(await readdir(join(folder, '.incoming'))).toEqual([]);
});

test('A file for which there is no room leaves nothing', async () => {
  const folder = await newFolder();
  const store = await storeIn(folder);
  const object = newObject();
  const script = fileURLToPath(new URL('testing/write-forever.ts', import.meta.url));
  // The limit of the process stands for a full disk: at most 1,000 blocks in a file.
  const writer = spawn(
    'sh',
    [
      '-c',
      'ulimit -f 1000 && exec "$0" "$@"',
      process.execPath,
      '--conditions=source',
      '--import',
      'tsx',
      script,
      folder,
      object.tenantId,
      object.id,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [errors] = await Promise.all([text(writer.stderr), once(writer, 'exit')]);
  expect(errors).toContain('The file store is full.');
  expect(await store.head(object)).toBeUndefined();
  expect((await store.listUnfinished({ limit: 10 })).objects).toEqual([]);
});

test('A stream that was opened before its file is deleted is read to the end', async () => {
  const store = await storeIn(await newFolder());
  const object = newObject();
  const content = Buffer.alloc(1_000_000, 'a');
  await store.write(object, inParts(content));
  const stream = await store.read(object);
  await store.delete(object);
  expect(await bytesOf(stream)).toEqual(content);
});
