import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

/** The shell blocks below the heading of the tour, in order, as one script. */
const blocks = (readme) => {
  const tour = readme.split(/^## /m).find((part) => part.startsWith('A five-minute tour'));
  const found = [...(tour ?? '').matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (found.length < 3) throw new Error('The README has no tour.');
  return found;
};

/** Prints what it runs, and stops at the first command that fails. */
const follow = (code) =>
  spawnSync('bash', ['-c', `set -euo pipefail\n${code}`], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });

/** A second start finds the ports taken: it ends with 1 and names the port and its variable. */
const refusesTakenPort = () => {
  const second = spawnSync('npm', ['start'], { cwd: root, encoding: 'utf8' });
  if (second.status !== 1 || !/^Port \d+ is taken; set IDENTITY_PORT/m.test(second.stderr)) {
    throw new Error(`A taken port is not told: exit code ${second.status}\n${second.stderr}`);
  }
};

/** Starts the system as the README says, runs exactly its blocks, and stops it with Ctrl-C. */
export const tour = async () => {
  const code = blocks(readFileSync(join(root, 'README.md'), 'utf8')).join('\n');
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
    if (follow(code).status !== 0) throw new Error('A block of the tour failed.');
    refusesTakenPort();
    if (follow('false\ntrue').status === 0) throw new Error('A failing block is not noticed.');
  } finally {
    const asked = Date.now();
    if (system.exitCode === null) process.kill(-system.pid, 'SIGINT');
    await ended;
    console.log(`Ctrl-C ended everything in ${Date.now() - asked} ms.`);
  }
};
