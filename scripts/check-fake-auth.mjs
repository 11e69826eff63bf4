// `npm run check:fake-auth`: CRM's fake authentication is off in every configuration of the repository but
// those of local development (crm.md section 5.5, decision C16). Names each that is not, by file and line.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './bootstrap.mjs';
import { innocent, planted } from './check-fake-auth.canaries.mjs';

const FLAG = 'CRM_FAKE_AUTH';

const isOff = (value) => ['', 'false', false].includes(value);
const isLocal = (appEnvs) => appEnvs.length > 0 && appEnvs.every((appEnv) => appEnv === 'local');

/** The lines of a file that switch it on where APP_ENV is not `local`. */
const violations = async (path, text) => {
  const { settingsOf } = await import('./environments.mjs');
  const wrong = settingsOf(FLAG, path, text).filter(
    ({ value, appEnvs }) => !isOff(value) && !isLocal(appEnvs),
  );
  return [...new Set(wrong.map(({ line }) => line))].sort((a, b) => a - b);
};

/** Every file that git has or would take; a link to one counts as one. */
const filesOf = (directory) =>
  execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
    .split('\0')
    .filter((path) => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile());

/** Nothing in the repository switches it on; and what is planted is found, and nothing else. */
export const fakeAuthentication = async () => {
  for (const [path, lines, text] of planted) {
    const found = await violations(path, text);
    if (String(found) !== String(lines)) {
      throw new Error(`Planted in ${path}, line ${lines}; found in ${found}:\n${text}`);
    }
  }
  for (const [path, text] of innocent) {
    const found = await violations(path, text);
    if (found.length > 0)
      throw new Error(`Innocent, and refused: ${path}, line ${found}:\n${text}`);
  }
  const found = [];
  for (const path of filesOf(root)) {
    const text = readFileSync(join(root, path), 'utf8');
    for (const line of await violations(path, text)) found.push(`${path}:${line}`);
  }
  if (found.length > 0) {
    throw new Error(`${FLAG} is on, and APP_ENV is not "local" beside it:\n${found.join('\n')}`);
  }
};

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await fakeAuthentication();
    console.log('Fake authentication is off in every configuration but local ones.');
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
