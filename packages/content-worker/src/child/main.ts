// The program that reads users' files. Nothing else runs in its process, because any file may make it exceed its limits
// or crash.
import type { TextType } from '../types.ts';
import { type Words, wordsOf } from '../words.ts';
import { runTask } from './run-task.ts';
import { extractors } from './text.ts';

await runTask({
  words: async (content, type, seconds) => {
    // After this processor time, the beginning of a text is the result: the process is killed at its limit.
    const cpuMs = (seconds * 1000) / 12;
    const { text, isCut } = await extractors[type as TextType](content, cpuMs);
    const { words, truncated } = wordsOf(text);
    return JSON.stringify({ words, truncated: truncated || isCut } satisfies Words);
  },
  thumbnail: async (content) => {
    const { thumbnailOf } = await import('./thumbnail.ts');
    return thumbnailOf(content);
  },
  /** Loads all libraries, to prove that a packaged service has them. */
  load: async () => {
    await Promise.all([import('./thumbnail.ts'), import('unpdf'), import('mammoth')]);
    return 'loaded';
  },
});
