import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

/** The shell blocks of a text, in order, as one script. */
const script = (text, name) => {
  const found = [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (found.length === 0) throw new Error(`${name} has no blocks to run.`);
  return found.join('\n');
};

const PAGES = ['docs/service-accounts.md', 'docs/ci-pipeline.md'];

const textOf = (page) => readFileSync(join(root, page), 'utf8');

/** The commands of a section of the README. */
export const sectionOfReadme = (heading) => {
  const name = `README, ${heading}`;
  const sections = textOf('README.md').split(/^## /m);
  const text = sections.find((section) => section.startsWith(heading)) ?? '';
  return { name, code: script(text, name) };
};

/** What is run, each by itself: two sections of the README, and the pages that are a walk. */
export const walks = () => [
  ...['A five-minute tour', 'Administration'].map(sectionOfReadme),
  ...PAGES.map((name) => ({ name, code: script(textOf(name), name) })),
];

/** Prints what it runs, and stops at the first command that fails. */
const follow = (code) =>
  spawnSync('bash', ['-c', `set -euo pipefail\n${code}`], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });

const npm = (args, environment = {}) =>
  spawnSync('npm', args, { cwd: root, encoding: 'utf8', env: { ...process.env, ...environment } });

/** A start on a port that is taken ends with 1 and names the port and its variable. */
const refusesTakenPort = async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const { status, stderr } = npm(['start'], { IDENTITY_PORT: `${port}` });
  server.close();
  if (status !== 1 || !stderr.includes(`Port ${port} is taken; set IDENTITY_PORT`)) {
    throw new Error(`A taken port is not reported: exit code ${status}\n${stderr}`);
  }
};

/** A second start says where the system is running, and fails where it was asked for other ports. */
const saysWhereItRuns = () => {
  const { identity_url } = JSON.parse(readFileSync(join(root, '.data/local.json'), 'utf8'));
  for (const [environment, expected] of [
    [{}, 0],
    [{ IDENTITY_PORT: '1024' }, 1],
  ]) {
    const { status, stdout, stderr } = npm(['start'], environment);
    if (status !== expected || !stdout.includes(identity_url)) {
      throw new Error(`A second start ends with ${status}:\n${stdout}${stderr}`);
    }
  }
};

/** The README's commands of `identity-admin` work on the running system. */
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
    throw new Error(`identity-admin lists no client my-app:\n${stdout}${stderr}`);
  }
};

/** Starts the system as the README says, runs exactly what the pages show, and stops it with Ctrl-C. */
export const tour = async () => {
  const scripts = walks();
  await refusesTakenPort();
  const system = spawn('npm', ['start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(system, 'exit');
  try {
    await new Promise((resolve, reject) => {
      let said = '';
      system.stdout.on('data', (chunk) => {
        said += chunk;
        if (said.includes('Tessera runs.')) resolve();
      });
      ended.then(() => reject(new Error(`npm start ended:\n${said}`)));
    });
    // The data outlast a run: what the README creates may be there already.
    npm(['run', '--silent', 'identity-admin', '--', 'delete-client', 'my-app']);
    for (const { name, code } of scripts) {
      if (follow(code).status !== 0) throw new Error(`${name}: a block failed.`);
    }
    saysWhereItRuns();
    administers();
    if (follow('false\ntrue').status === 0) throw new Error('A failing block is not noticed.');
  } finally {
    const asked = Date.now();
    if (system.exitCode === null) process.kill(-system.pid, 'SIGINT');
    await ended;
    console.log(`Ctrl-C ended everything in ${Date.now() - asked} ms.`);
  }
};
