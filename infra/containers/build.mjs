import { existsSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { APPS } from './images.mjs';

/**
 * npm settings and trusted certificates of this machine, which builds may need behind a company proxy.
 */
const secretFiles = () =>
  Object.entries({
    npmrc: process.env.NPM_CONFIG_USERCONFIG || join(homedir(), '.npmrc'),
    'ca-certificates': process.env.NODE_EXTRA_CA_CERTS,
  }).filter(([, file]) => file && existsSync(file));

/**
 * Writes a compose file that gives builds access to npm's registry.
 *
 * @param {boolean} usesHostNetwork whether builds have no network of their own, as in our engine.
 */
export const writeBuildFile = (file, usesHostNetwork) => {
  const secrets = secretFiles();
  const build = {
    network: usesHostNetwork ? 'host' : 'default',
    secrets: secrets.map(([name]) => name),
  };
  writeFileSync(
    file,
    JSON.stringify({
      services: Object.fromEntries(APPS.map((app) => [app, { build }])),
      secrets: Object.fromEntries(secrets.map(([name, path]) => [name, { file: path }])),
    }),
  );
};
