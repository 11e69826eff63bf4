import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The flags with which Node runs a program from its source, as tests and development do: Node does not run TypeScript
 * itself. None if the program is compiled.
 */
export const sourceFlags = (program: string | URL): string[] => {
  if (extname(`${program}`) !== '.ts') return [];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--conditions=source', '--import', loader];
};
