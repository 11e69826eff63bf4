// `npm run pack -- <directory>`: builds and packs the packages that are published to npm. The environment variable
// GITHUB_REPOSITORY names their repository. Prints the paths of the tarballs in the order of publication.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { pack } from './publication.mjs';

const [directory] = process.argv.slice(2);
const { GITHUB_REPOSITORY: repository } = process.env;
if (!directory || !repository) {
  console.error('use: GITHUB_REPOSITORY=<owner>/<name> npm run pack -- <directory>');
  process.exit(1);
}
bootstrap({ build: true });
mkdirSync(directory, { recursive: true });
for (const path of pack(resolve(directory), repository)) console.log(path);
