import { spawnSync } from 'node:child_process';
import { root } from './bootstrap.mjs';

const bench = (...args) =>
  spawnSync(process.execPath, ['scripts/bench.mjs', '--smoke', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  });

/** Every scenario of the benchmark runs and is answered as it should be; one that is not is told by name. */
export const benchRuns = () => {
  const all = bench();
  if (all.status !== 0) throw new Error(all.stderr);
  const planted = bench('--only', 'canary');
  if (planted.status === 0 || !planted.stderr.includes('"canary" failed')) {
    throw new Error(`A scenario that is answered with 404 does not fail:\n${planted.stderr}`);
  }
};
