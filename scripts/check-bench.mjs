import { spawnSync } from 'node:child_process';
import { root } from './bootstrap.mjs';

const bench = (...args) =>
  spawnSync(process.execPath, ['scripts/bench.mjs', '--smoke', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'inherit', 'pipe'],
  });

/**
 * Checks that every benchmark scenario runs and gets the expected responses; a failing one is named.
 */
export const benchRuns = () => {
  for (const run of [bench(), bench('--scale'), bench('--only', 'noisy')]) {
    if (run.status !== 0) throw new Error(run.stderr);
  }
  const planted = bench('--only', 'canary');
  if (planted.status === 0 || !planted.stderr.includes('"canary" failed')) {
    throw new Error(`A benchmark scenario with 404 responses does not fail:\n${planted.stderr}`);
  }
};
