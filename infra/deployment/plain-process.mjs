import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { parseEnv } from 'node:util';

const PORT = 4001;

const { PATH, HOME } = process.env;

const settings = () => {
  const directory = '/etc/tessera/identity';
  return {
    ...parseEnv(readFileSync(`${directory}.env`, 'utf8')),
    DATABASE_URL_FILE: `${directory}/database-url`,
    KEY_ENCRYPTION_KEYS_FILE: `${directory}/key-encryption-keys`,
    CRM_SYSTEM_TOKEN_FILE: `${directory}/crm-system-token`,
    PORT: `${PORT}`,
    METRICS_PORT: '',
  };
};

/**
 * Verifies that `npm run start:identity` names missing settings, runs with the given ones, and stops cleanly.
 */
export const plainProcess = async () => {
  const start = ['run', '--silent', 'start:identity'];
  const without = spawnSync('npm', start, { env: { PATH, HOME }, encoding: 'utf8' });
  const missing = ['DATABASE_URL', 'ISSUER', 'KEY_ENCRYPTION_KEYS'];
  if (without.status !== 1 || missing.some((name) => !without.stderr.includes(name))) {
    throw new Error(`Without settings it exits with ${without.status}:\n${without.stderr}`);
  }
  const service = spawn('npm', start, {
    env: { PATH, HOME, ...settings() },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(service, 'exit');
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${PORT}/readyz`).catch(() => undefined))?.ok === true;
  while (!(await isReady())) {
    if (service.exitCode !== null) throw new Error(`It exited with ${service.exitCode}`);
    await setTimeout(50);
  }
  service.kill('SIGTERM');
  const [code] = await ended;
  if (code !== 0) throw new Error(`After SIGTERM it exits with ${code}`);
};
