import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Whether a module is the program that Node runs, and is not imported by another one.
 * @param {string} url its `import.meta.url`
 */
export const isProgram = (url) =>
  process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href;

/** The folder of what is kept between runs, such as downloads; it can be removed at any time. */
export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tessera');
