import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../scripts/program.mjs';
import { refuseInterrupted } from './command.mjs';

const PATIENCE_MS = 30 * 60_000;

/** Cache of the engine and its images between runs; it can be removed at any time. */
export const cache = join(cacheFolder, 'containers');
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** A short digest of files (names relative to the repository) and other texts. */
export const digestOf = (files, ...texts) => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  for (const text of texts) hash.update(`\0${text}`);
  return hash.digest('hex').slice(0, 16);
};

/** The cache directory of one version of something; directories of other versions are removed. */
export const directoryOf = (name, version) => {
  const directory = join(cache, `${name}-${version}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const other of readdirSync(cache)) {
    if (other.startsWith(`${name}-`) && other !== `${name}-${version}`) {
      rmSync(join(cache, other), { recursive: true });
    }
  }
  return directory;
};

const listen = (path) =>
  new Promise((tell) => {
    const server = createServer();
    server.once('error', () => tell(undefined));
    server.listen(path, () => tell(server.unref()));
  });

/**
 * Waits until no other run uses the cache; returns a function that releases it. The lock is a socket in Linux's
 * abstract namespace, which disappears with its process.
 */
export const lockCache = async () => {
  const path = `\0tessera-containers-${createHash('sha256').update(cache).digest('hex')}`;
  let isTold = false;
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(500)) {
    refuseInterrupted();
    const server = await listen(path);
    if (server) return () => server.close();
    if (!isTold) console.log(`Waiting for another run that uses ${cache}.`);
    isTold = true;
  }
  throw new Error(`Another run uses ${cache}.`);
};
