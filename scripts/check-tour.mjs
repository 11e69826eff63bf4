import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './bootstrap.mjs';

/** The shell blocks of a text, in order, as one script. */
const script = (text, name) => {
  const found = [...text.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, code]) => code);
  if (found.length < 3) throw new Error(`${name} has no blocks to run.`);
  return found.join('\n');
};

const PAGES = ['README.md', 'docs/service-accounts.md', 'docs/ci-pipeline.md'];

/** What is run, each by itself: the part of the README below its heading, and the pages that are a walk. */
const walks = () => {
  const [readme, ...pages] = PAGES.map((name) => ({
    name,
    text: readFileSync(join(root, name), 'utf8'),
  }));
  const tour = readme.text.split(/^## /m).find((part) => part.startsWith('A five-minute tour'));
  return [{ name: 'The tour', text: tour ?? '' }, ...pages].map(({ name, text }) => ({
    name,
    code: script(text, name),
  }));
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

/** Starts the system as the README says, runs exactly what the pages show, and stops it with Ctrl-C. */
export const tour = async () => {
  const scripts = walks();
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
    for (const { name, code } of scripts) {
      if (follow(code).status !== 0) throw new Error(`${name}: a block failed.`);
    }
    refusesTakenPort();
    if (follow('false\ntrue').status === 0) throw new Error('A failing block is not noticed.');
  } finally {
    const asked = Date.now();
    if (system.exitCode === null) process.kill(-system.pid, 'SIGINT');
    await ended;
    console.log(`Ctrl-C ended everything in ${Date.now() - asked} ms.`);
  }
};
