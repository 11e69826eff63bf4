import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from './cache.mjs';

const read = (file) => readFileSync(join(root, file), 'utf8');

/** The base images of a Dockerfile, without its own stages and `scratch`. */
export const basesOf = (dockerfile) => {
  const variables = new Map(
    [...dockerfile.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name, value]) => [name, value]),
  );
  const stages = [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)(?: AS (\S+))?$/gim)];
  const names = new Set(stages.map(([, , name]) => name).filter(Boolean));
  const images = stages
    .map(([, image]) => image.replace(/\$\{(\w+)\}/g, (_, name) => variables.get(name) ?? ''))
    .filter((image) => !names.has(image) && image !== 'scratch');
  return [...new Set(images)];
};

/** The images of a compose file's services that are not built. */
export const pulledBy = (compose) => [
  ...new Set(
    Object.values(parse(compose, { merge: true }).services).flatMap(({ image, build }) =>
      build === undefined ? [image] : [],
    ),
  ),
];

export const APPS = ['identity', 'crm'];

/** All third-party images named by the Dockerfiles and docker-compose.yml. */
export const officialImages = () => [
  ...new Set([
    ...APPS.flatMap((app) => basesOf(read(`apps/${app}/Dockerfile`))),
    ...pulledBy(read('docker-compose.yml')),
  ]),
];
