import type { Stats } from 'node:fs';
import { constants, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pagesOf } from './folder-pages.ts';
import {
  type ObjectId,
  ObjectMissing,
  type ObjectStore,
  ObjectTruncated,
  objectAt,
  objectPath,
  type StoredObject,
  StoreFull,
} from './object-store.ts';
import { piecesOf } from './pieces.ts';

/** Where objects are until they are complete. */
const INCOMING = '.incoming';

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;
/** No space, over the quota of the user, or over the largest size of a file. */
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT';

/** Waits until the entries of a directory are on the disk. */
const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** Throws unless `path` is a directory itself, not a symbolic link to one. */
const requireDirectory = async (path: string): Promise<void> => {
  if ((await lstat(path)).isDirectory()) return;
  throw new Error(`The file store contains ${path}, which is not a directory.`);
};

/** Creates a directory for the service's user alone, unless it exists. */
const makeDirectory = async (parent: string, path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: 0o700 });
    await syncDirectory(parent);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    await requireDirectory(path);
  }
};

/** What is written at once: a write costs more than to copy these bytes. */
const PIECE_BYTES = 512 * 1024;

/**
 * A store in a folder, which several replicas may share. An object is written to a temporary file, which is
 * renamed when it is on the disk. Symbolic links below the folder are refused.
 */
export const createFolderStore = (folder: string): ObjectStore => {
  const root = resolve(folder);

  const pathsOf = (object: ObjectId) => {
    const [tenant, shard, name] = objectPath(object);
    const tenantFolder = join(root, tenant);
    const directory = join(tenantFolder, shard);
    const incoming = join(root, INCOMING, `${tenant}.${name}`);
    return { tenantFolder, directory, file: join(directory, name), incoming };
  };

  type Paths = ReturnType<typeof pathsOf>;

  const requireDirectories = async ({ tenantFolder, directory }: Paths): Promise<void> => {
    await requireDirectory(tenantFolder);
    await requireDirectory(directory);
  };

  /** The state of an object's file; undefined if there is none. */
  const stateOf = async (paths: Paths): Promise<Stats | undefined> => {
    try {
      await requireDirectories(paths);
      const state = await lstat(paths.file);
      if (state.isFile()) return state;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    throw new Error(`The file store contains ${paths.file}, which is not a file.`);
  };

  return {
    async prepare() {
      await mkdir(root, { recursive: true, mode: 0o700 });
      await makeDirectory(root, join(root, INCOMING));
    },

    async requireExisting() {
      try {
        await requireDirectory(join(root, INCOMING));
      } catch (error) {
        throw isMissing(error) ? new Error(`${root} is not the folder of a file store.`) : error;
      }
    },

    async write(object, content) {
      const paths = pathsOf(object);
      const { tenantFolder, directory, file, incoming } = paths;
      // Fails if the file exists, also as a symbolic link.
      const handle = await open(incoming, 'wx', 0o600).catch((error: unknown) => {
        throw FULL.includes(codeOf(error)) ? new StoreFull(error) : error;
      });
      try {
        for await (const { piece } of piecesOf(content, PIECE_BYTES))
          await handle.appendFile(piece);
        await handle.sync();
        await makeDirectory(root, tenantFolder);
        await makeDirectory(tenantFolder, directory);
        if (await stateOf(paths)) throw new Error(`The object ${object.id} exists.`);
        await rename(incoming, file);
        await syncDirectory(directory);
      } catch (error) {
        await rm(incoming, { force: true });
        throw FULL.includes(codeOf(error)) ? new StoreFull(error) : error;
      } finally {
        await handle.close();
      }
    },

    async read(object, range) {
      const paths = pathsOf(object);
      try {
        await requireDirectories(paths);
        const handle = await open(paths.file, constants.O_RDONLY | constants.O_NOFOLLOW);
        if (range && range.end >= (await handle.stat()).size) {
          await handle.close();
          throw new ObjectTruncated(object);
        }
        return handle.createReadStream({ start: range?.start, end: range?.end });
      } catch (error) {
        throw isMissing(error) ? new ObjectMissing(object) : error;
      }
    },

    async head(object) {
      const state = await stateOf(pathsOf(object));
      if (!state) return undefined;
      const { tenantId, id } = object;
      return { tenantId, id, size: state.size, storedAt: new Date(state.mtimeMs) };
    },

    async delete(object) {
      const paths = pathsOf(object);
      await rm(paths.incoming, { force: true });
      if (!(await stateOf(paths))) return;
      await rm(paths.file, { force: true });
      await syncDirectory(paths.directory);
    },

    list: ({ after, limit }) => pagesOf(root, after, limit),

    async listUnfinished({ after = '', limit }) {
      const folder = join(root, INCOMING);
      const names = (await readdir(folder)).filter((name) => name > after).sort();
      const objects: StoredObject[] = [];
      for (const name of names.slice(0, limit)) {
        const [tenantId = '', id = ''] = name.split('.');
        const object = objectAt([tenantId, id.slice(-2), id]);
        const state = await lstat(join(folder, name)).catch(() => undefined);
        if (object && state) {
          objects.push({ tenantId, id, size: state.size, storedAt: new Date(state.mtimeMs) });
        }
      }
      return { objects, next: names.length > limit ? names[limit - 1] : undefined };
    },
  };
};
