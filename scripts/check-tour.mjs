import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

/** The bash blocks of a document, joined in order. */
const script = (text, name) => {
  const found = [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (found.length === 0) throw new Error(`${name} contains no bash blocks.`);
  return found.join('\n');
};

const PAGES = [
  'docs/service-accounts.md',
  'docs/ci-pipeline.md',
  'docs/crm-api.md',
  'docs/webhooks.md',
];

const textOf = (page) => readFileSync(join(root, page), 'utf8');

/** The commands of a section of the README. */
export const sectionOfReadme = (heading) => {
  const name = `README, ${heading}`;
  const sections = textOf('README.md').split(/^## /m);
  const text = sections.find((section) => section.startsWith(heading)) ?? '';
  return { name, code: script(text, name) };
};

/** The scripts to run separately: sections of the README, of which the later one continues the other, and complete pages. */
export const walks = () => [
  {
    name: 'README',
    code: ['A five-minute tour', 'Administration']
      .map((heading) => sectionOfReadme(heading).code)
      .join('\n'),
  },
  ...PAGES.map((name) => ({ name, code: script(textOf(name), name) })),
];

/** Runs a script and stops at the first failing command. */
const follow = (code) =>
  spawnSync('bash', ['-c', `set -euo pipefail\n${code}`], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });

const npm = (args, environment = {}) =>
  spawnSync('npm', args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...environment } });

/** Starting on a port in use must fail with exit code 1 and name the port and its variable. */
const refusesTakenPort = async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const { status, stderr } = npm(['start'], { IDENTITY_PORT: `${port}` });
  server.close();
  if (status !== 1 || !stderr.includes(`Port ${port} is in use; set IDENTITY_PORT`)) {
    throw new Error(`A port in use is not reported: exit code ${status}\n${stderr}`);
  }
};

/** A second start must tell where the system is running, and fail if other ports were requested. */
const saysWhereItRuns = () => {
  const { identity_url } = JSON.parse(readFileSync(join(root, '.data/local.json'), 'utf8'));
  for (const [environment, expected] of [
    [{}, 0],
    [{ IDENTITY_PORT: '1024' }, 1],
  ]) {
    const { status, stdout, stderr } = npm(['start'], environment);
    if (status !== expected || !stdout.includes(identity_url)) {
      throw new Error(`A second start ended with exit code ${status}:\n${stdout}${stderr}`);
    }
  }
};

/** The README's `identity-admin` commands must work on the running system. */
const administers = () => {
  const { status, stdout, stderr } = npm([
    'run',
    '--silent',
    'identity-admin',
    '--',
    'list-clients',
    '--json',
  ]);
  if (status !== 0 || !JSON.parse(stdout).some((client) => client.client_id === 'my-app')) {
    throw new Error(`identity-admin does not list the client my-app:\n${stdout}${stderr}`);
  }
};

/**
 * Starts the system as described in the README, runs the commands of the pages, and stops it with Ctrl-C.
 */
export const tour = async () => {
  const scripts = walks();
  await refusesTakenPort();
  const system = spawn('npm', ['start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    // All pages together sign in more often in a minute than one person does.
    env: { ...process.env, RATE_LIMIT_LOGIN: '100' },
  });
  const ended = once(system, 'exit');
  try {
    await new Promise((resolve, reject) => {
      let output = '';
      system.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('Tessera is running.')) resolve();
      });
      ended.then(() => reject(new Error(`npm start ended:\n${output}`)));
    });
    // Data is kept between runs: what the README creates may already exist.
    npm(['run', '--silent', 'identity-admin', '--', 'delete-client', 'my-app']);
    for (const { name, code } of scripts) {
      if (follow(code).status !== 0) throw new Error(`${name}: a block failed.`);
    }
    saysWhereItRuns();
    administers();
    if (follow('false\ntrue').status === 0) throw new Error('A failing block is not detected.');
  } finally {
    const asked = Date.now();
    if (system.exitCode === null) process.kill(-system.pid, 'SIGINT');
    await ended;
    console.log(`Ctrl-C stopped everything within ${Date.now() - asked} ms.`);
  }
};
