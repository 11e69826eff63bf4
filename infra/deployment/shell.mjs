import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * One shell session that keeps variables and functions, as a person following a document has. `run` throws with the
 * output of the commands if one fails.
 */
export const openShell = (environment) => {
  const directory = mkdtempSync(join(tmpdir(), 'shell-'));
  const shell = spawn('bash', ['--noprofile', '--norc'], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const ended = once(shell, 'exit').then(([code]) => ({ code }));
  const chunks = [];
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => chunks.push(text));
  }
  const done = createInterface({ input: shell.stdio[3] });
  shell.stdin.write('set -euo pipefail\n');
  let count = 0;
  return {
    async run(name, code) {
      count += 1;
      const file = join(directory, `${count}.sh`);
      writeFileSync(file, code);
      chunks.length = 0;
      const finished = once(done, 'line').then(() => undefined);
      shell.stdin.write(`source ${file} < /dev/null 3>&-; echo >&3\n`);
      const failed = await Promise.race([finished, ended]);
      if (failed)
        throw new Error(`${name}: a command failed (${failed.code}).\n${chunks.join('')}`);
    },
    async close() {
      shell.stdin.end();
      await ended;
    },
  };
};
