import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A folder that a command exports to. Only the user who runs the command can read it. */
export interface ExportFolder {
  /** Writes a file, whose folder is created if it is missing; memory does not depend on its size. */
  write(name: string, content: AsyncIterable<Uint8Array | string>): Promise<void>;
  /** Writes JSON texts as lines, and returns their number. */
  writeLines(name: string, pieces: AsyncIterable<readonly string[]>): Promise<number>;
  /** Writes `manifest.json`, last: an export without it is incomplete. */
  finish(manifest: object): Promise<void>;
}

/** Creates the folder. Throws if it contains anything. */
export const createExportFolder = async (path: string): Promise<ExportFolder> => {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await readdir(path)).length > 0) throw new Error(`The folder ${path} is not empty.`);

  const write: ExportFolder['write'] = async (name, content) => {
    const file = join(path, name);
    await mkdir(join(file, '..'), { recursive: true, mode: 0o700 });
    const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(content, { objectMode: false }), stream);
  };
  return {
    write,
    async writeLines(name, pieces) {
      let count = 0;
      const lines = async function* (): AsyncGenerator<string> {
        for await (const piece of pieces) {
          count += piece.length;
          if (piece.length > 0) yield `${piece.join('\n')}\n`;
        }
      };
      await write(name, lines());
      return count;
    },
    async finish(manifest) {
      const file = join(path, 'manifest.json');
      await writeFile(`${file}.part`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
      await rename(`${file}.part`, file);
    },
  };
};
