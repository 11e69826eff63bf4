import { sectionOfReadme, walks } from '../../scripts/check-tour.mjs';
import { signIn } from './api.mjs';
import { run } from './command.mjs';

/** The README's tour and the other pages whose commands only need a running system. */
const NAMES = ['README, A five-minute tour', 'docs/service-accounts.md'];

/**
 * Starts everything and creates the first administrator with the README's commands; the administrator signs in.
 */
export const followStart = async (project) => {
  const output = await project.shell(sectionOfReadme('In containers').code);
  const [email, password] = ['email', 'password'].map(
    (name) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(output)?.[1],
  );
  const administrator = { email, password };
  await signIn({ ...project.urls, administrator }, 'administrator');
};

/** Runs the pages' commands with the accounts of `.data/local.json` below a directory. */
export const followPages = async (directory) => {
  const found = walks().filter(({ name }) => NAMES.includes(name));
  if (found.length !== NAMES.length) throw new Error(`Pages are missing: ${NAMES}`);
  for (const { name, code } of found) {
    await run('bash', ['-c', `set -euo pipefail\n${code}`], {
      directory,
      environment: { TMPDIR: directory },
    }).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
};
