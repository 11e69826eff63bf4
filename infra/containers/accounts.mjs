import { localSystem } from '../../packages/local-stack/src/credentials.ts';

/**
 * Creates the accounts of the README's tour with `identity-admin`, and writes them to `.data/local.json` below
 * a directory, where its commands read them.
 */
export const seedAccounts = (project, directory) =>
  localSystem(`${directory}/.data`, project.urls, async (document) => {
    const seed = ['exec', '-T', 'identity', 'identity-admin', 'seed'];
    await project.compose(seed, { input: JSON.stringify(document) });
  });
