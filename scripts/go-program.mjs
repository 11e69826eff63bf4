import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheFolder } from './program.mjs';

/**
 * The path of a program that Go builds once, in the version that is given; Go verifies its checksums.
 * @param {string} program its import path
 * @param {string} version such as `v1.2.0`
 */
export const goProgram = (program, version) => {
  const name = basename(program.replace(/\/v\d+$/, ''));
  const directory = join(cacheFolder, `${name}-${version}`);
  const path = join(directory, name);
  if (existsSync(path)) return path;
  const { status, stderr, error } = spawnSync('go', ['install', `${program}@${version}`], {
    encoding: 'utf8',
    // A newer toolchain than the installed one is downloaded if the program needs it.
    env: { ...process.env, GOBIN: directory, GOTOOLCHAIN: process.env.GOTOOLCHAIN ?? 'auto' },
  });
  if (status === 0) return path;
  throw new Error(`Go cannot build ${name}: ${stderr || error?.message}`);
};
