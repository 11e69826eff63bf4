import { sectionOfReadme, walks } from '../../scripts/check-tour.mjs';
import { signIn } from './api.mjs';
import { run } from './command.mjs';

/** The page whose commands, like those of the README's tour, only need a running system. */
const PAGE = 'docs/service-accounts.md';

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
  const page = walks().find(({ name }) => name === PAGE);
  if (!page) throw new Error(`The page ${PAGE} is missing.`);
  for (const { name, code } of [sectionOfReadme('A five-minute tour'), page]) {
    await run('bash', ['-c', `set -euo pipefail\n${code}`], {
      directory,
      environment: { TMPDIR: directory },
    }).catch((error) => {
      throw new Error(`${name}: ${error.message}`);
    });
  }
};
