import { freePort } from '../../packages/local-stack/src/free-port.ts';
import { root } from './cache.mjs';
import { run } from './command.mjs';

const LOG_LINES = '60';

/**
 * A project of `docker compose` from the root's docker-compose.yml, on free ports.
 *
 * @param {{ environment: Record<string, string> }} engine
 * @param {{ name: string, files: string[], variables?: Record<string, string> }} options `files`: laid over
 *   docker-compose.yml.
 */
export const createProject = async (engine, { name, files, variables = {} }) => {
  const ports = { identity: await freePort(), crm: await freePort(), mail: await freePort() };
  const environment = {
    ...engine.environment,
    TESSERA_VERSION: 'verification',
    IDENTITY_PORT: `${ports.identity}`,
    CRM_PORT: `${ports.crm}`,
    MAIL_PORT: `${ports.mail}`,
    ...variables,
  };
  const docker = (args, options) => run('docker', args, { environment, ...options });
  const options = [
    // Ignores the developer's own .env.
    '--env-file',
    '/dev/null',
    '--project-name',
    name,
    ...['docker-compose.yml', ...files].flatMap((file) => ['--file', file]),
  ];
  const compose = (args, more) =>
    docker(['compose', ...options, ...args], { directory: root, ...more });
  const ids = async (...filters) => {
    const all = [`label=com.docker.compose.project=${name}`, ...filters];
    const output = await docker([
      'ps',
      '--all',
      '--quiet',
      ...all.flatMap((of) => ['--filter', of]),
    ]);
    return output.split('\n').filter(Boolean);
  };
  return {
    name,
    ports,
    docker,
    compose,
    /** Runs a shell script in which `docker compose` refers to this project. */
    shell: (code) =>
      run('bash', ['-c', `set -euo pipefail\n${code}`], {
        directory: root,
        environment: {
          ...environment,
          COMPOSE_ENV_FILES: '/dev/null',
          COMPOSE_FILE: ['docker-compose.yml', ...files].join(':'),
          COMPOSE_PROJECT_NAME: name,
        },
      }),
    urls: {
      identity_url: `http://127.0.0.1:${ports.identity}`,
      crm_url: `http://127.0.0.1:${ports.crm}`,
    },
    /** Starts services, all by default, and waits until they are healthy. */
    up: (...args) =>
      compose(['up', '--detach', '--wait', '--wait-timeout', '300', '--no-build', ...args]),
    /** `docker inspect` of all containers. */
    async containers() {
      const found = await ids();
      return found.length === 0 ? [] : JSON.parse(await docker(['inspect', ...found]));
    },
    /** `docker inspect` of the container of one service. */
    async container(service) {
      const [id] = await ids(
        `label=com.docker.compose.service=${service}`,
        'label=com.docker.compose.oneoff=False',
      );
      if (!id) throw new Error(`There is no container of ${service}.`);
      return JSON.parse(await docker(['inspect', id]))[0];
    },
    /** The state of the containers and the end of their logs. */
    logs: async () => {
      const cleaning = { isCleaning: true };
      const states = await compose(['ps', '--all'], cleaning);
      return states + (await compose(['logs', '--no-color', '--tail', LOG_LINES], cleaning));
    },
    /** Removes the project with its data. */
    remove: () =>
      compose(['--profile', '*', 'down', '--volumes', '--remove-orphans', '--timeout', '10'], {
        isCleaning: true,
      }),
    /** Names of the project's remaining containers, networks and volumes. */
    async left() {
      const of = ['--filter', `label=com.docker.compose.project=${name}`];
      const list = (args) => docker([...args, '--quiet', ...of], { isCleaning: true });
      const lists = await Promise.all([
        list(['ps', '--all']),
        list(['network', 'ls']),
        list(['volume', 'ls']),
      ]);
      return lists.join('').split('\n').filter(Boolean);
    },
  };
};
