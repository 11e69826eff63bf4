// The program that reads users' files. Nothing else runs in its process, because any file may make it exceed its limits
// or crash. It reads the content from its standard input and writes the result to the file descriptor 3.
import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { TextType } from '../types.ts';
import { wordsOf } from '../words.ts';
import { confine } from './confinement.ts';
import { extractors } from './text.ts';

const [task = '', type = '', seconds = '', memoryBytes = ''] = process.argv.slice(2);

const tasks: Readonly<Record<string, (content: Buffer) => Promise<string | Buffer>>> = {
  words: async (content) => JSON.stringify(wordsOf(await extractors[type as TextType](content))),
  thumbnail: async (content) => {
    const { thumbnailOf } = await import('./thumbnail.ts');
    return thumbnailOf(content);
  },
  /** Loads all libraries, to prove that a packaged service has them. */
  load: async () => {
    await Promise.all([import('./thumbnail.ts'), import('unpdf'), import('mammoth')]);
    return 'loaded';
  },
};

confine({ seconds: Number(seconds), memoryBytes: Number(memoryBytes) });
const work = tasks[task];
if (!work) throw new TypeError(`There is no task "${task}".`);
const result = await work(await buffer(process.stdin)).catch((error: unknown) => {
  // The service distinguishes a file that cannot be read from a crash.
  process.exitCode = 3;
  return error instanceof Error ? error.message : String(error);
});
// Timers of libraries must not keep the process alive.
createWriteStream('', { fd: 3 }).end(result, () => process.exit());
