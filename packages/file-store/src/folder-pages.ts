import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ObjectPage, objectAt, type StoredObject } from './object-store.ts';

/** The names in a directory in their order, of directories or of files; none if it is gone. */
const namesIn = async (path: string, isWanted: (entry: Dirent) => boolean): Promise<string[]> => {
  const entries = await readdir(path, { withFileTypes: true }).catch(
    (error: { readonly code?: unknown }) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  return entries
    .filter(isWanted)
    .map(({ name }) => name)
    .sort();
};

/** The paths of objects after a path, in their order. Reads one directory at a time. */
async function* pathsAfter(
  root: string,
  [tenantAfter = '', shardAfter = '', nameAfter = '']: readonly string[],
): AsyncGenerator<readonly [string, string, string]> {
  const isDirectory = (entry: Dirent) => entry.isDirectory();
  for (const tenant of await namesIn(root, isDirectory)) {
    if (tenant < tenantAfter) continue;
    const isFirstTenant = tenant === tenantAfter;
    for (const shard of await namesIn(join(root, tenant), isDirectory)) {
      if (isFirstTenant && shard < shardAfter) continue;
      const isFirst = isFirstTenant && shard === shardAfter;
      for (const name of await namesIn(join(root, tenant, shard), (entry) => entry.isFile())) {
        if (!isFirst || name > nameAfter) yield [tenant, shard, name];
      }
    }
  }
}

/** One page of the objects in a folder, in the order of their paths. Anything else in it is left out. */
export const pagesOf = async (
  root: string,
  after: string | undefined,
  limit: number,
): Promise<ObjectPage> => {
  const objects: StoredObject[] = [];
  for await (const path of pathsAfter(root, after?.split('/') ?? [])) {
    const object = objectAt(path);
    if (!object) continue;
    const state = await lstat(join(root, ...path)).catch(() => undefined);
    if (!state) continue;
    objects.push({
      tenantId: object.tenantId,
      id: object.id,
      size: state.size,
      storedAt: new Date(state.mtimeMs),
    });
    if (objects.length === limit) return { objects, next: path.join('/') };
  }
  return { objects, next: undefined };
};
