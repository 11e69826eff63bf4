import { lockCache } from './cache.mjs';
import { run, succeeds } from './command.mjs';
import { officialImages } from './images.mjs';
import { startOwnEngine } from './own-engine.mjs';
import { makeStandIns } from './stand-ins.mjs';

const PULL_LIMIT_MS = 5 * 60_000;

/** Whether all official images are present or can be pulled. Stops at the first failure. */
const bring = async (images, environment) => {
  for (const image of images) {
    const isThere = await succeeds('docker', ['image', 'inspect', image], { environment });
    if (isThere && !(await isStandIn(image, environment))) continue;
    if (!(await succeeds('docker', ['pull', image], { environment, limitMs: PULL_LIMIT_MS }))) {
      console.log(`  ${image} cannot be pulled.`);
      return false;
    }
  }
  return true;
};

const isStandIn = async (image, environment) => {
  const label = '{{index .Config.Labels "tessera.stand-in"}}';
  const output = await run('docker', ['image', 'inspect', '--format', label, image], {
    environment,
  });
  return output.trim() !== '';
};

/** Removes untagged images and limits the size of the build cache. */
const prune = async (environment) => {
  const docker = (args) => run('docker', args, { environment, isCleaning: true });
  await docker(['image', 'prune', '--force']);
  await docker(['builder', 'prune', '--force', '--keep-storage', '6GB']);
};

/**
 * A Docker engine with the images that the project needs: the running one with the official images or, if there
 * is none or it has no registry access, our own, with stand-ins if necessary.
 *
 * @returns {Promise<{ environment: Record<string, string>, name: string, usesStandIns: boolean,
 *   prune: () => Promise<void>, stop: () => Promise<void> }>} `prune` limits what runs leave in our engine; it
 * does nothing in another engine, whose images and build caches may belong to others.
 */
export const startEngine = async ({ isOwn = false } = {}) => {
  const images = officialImages();
  if (!isOwn) {
    const runs = await succeeds('docker', ['version'], { limitMs: 30_000 });
    const hasCompose = runs && (await succeeds('docker', ['compose', 'version']));
    if (hasCompose && (await bring(images, {}))) {
      return {
        environment: {},
        name: 'the running engine',
        usesStandIns: false,
        prune: async () => {},
        stop: async () => {},
      };
    }
  }
  const unlock = await lockCache();
  let engine;
  try {
    engine = await startOwnEngine();
    const { environment } = engine;
    const usesStandIns = !(await bring(images, environment));
    if (usesStandIns) await makeStandIns(environment);
    const stop = () => engine.stop().finally(unlock);
    return {
      environment,
      name: 'an engine of its own',
      usesStandIns,
      prune: () => prune(environment),
      stop,
    };
  } catch (error) {
    await engine?.stop();
    unlock();
    throw error;
  }
};
