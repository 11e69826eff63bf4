// Checks how the containers run, as reported by the engine and the kernel.
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { APPS } from './images.mjs';

/** Volumes whose contents must not appear in any environment, command or log. */
const SECRETS = ['postgres-secrets', 'identity-secrets', 'crm-secrets'];

/** The published services. */
const PUBLIC = [...APPS, 'mail'];

/**
 * A program run in a service: reports how its main process is confined, and whether it can write.
 */
const CONFINEMENT = `
const { readFileSync, writeFileSync } = require('node:fs');
const status = readFileSync('/proc/1/status', 'utf8');
const value = (name) => new RegExp('^' + name + ':\\\\s*(.*)$', 'm').exec(status)[1];
const writes = (path) => { try { writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
console.log(JSON.stringify({
  user: value('Uid').split('\\t')[0],
  capabilities: value('CapEff') + value('CapPrm') + value('CapBnd'),
  newPrivileges: value('NoNewPrivs'),
  file: writes('/app/planted'),
}));`;

const CONFINED = {
  user: '65532',
  capabilities: '0'.repeat(48),
  newPrivileges: '1',
  file: 'EROFS',
};

const proveConfined = async (project, app) => {
  const output = await project.compose(['exec', '-T', app, 'node', '-e', CONFINEMENT]);
  if (output.trim() !== JSON.stringify(CONFINED)) {
    throw new Error(`${app} is not confined: ${output} in place of ${JSON.stringify(CONFINED)}`);
  }
};

const answers = (host, port) =>
  new Promise((tell) => {
    const socket = connect({ host, port, timeout: 2000 });
    const end = (isOpen) => {
      socket.destroy();
      tell(isOpen);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });

/** Only these services may be published, and only on loopback. */
const provePublished = async (project, containers) => {
  const published = containers.flatMap(({ NetworkSettings }) =>
    Object.values(NetworkSettings.Ports ?? {}).flatMap((bindings) => bindings ?? []),
  );
  const found = published.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`).sort();
  const expected = Object.values(project.ports)
    .map((port) => `127.0.0.1:${port}`)
    .sort();
  if (`${found}` !== `${expected}`) throw new Error(`Published: ${found}; expected: ${expected}`);
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of outside) {
    for (const port of Object.values(project.ports)) {
      if (await answers(address, port))
        throw new Error(`${address}:${port} is open to the network.`);
    }
  }
};

/**
 * The restrictions of docker-compose.yml that a container, as reported by `docker inspect`, lacks.
 */
export const missingRestrictions = ({ Config, HostConfig }) => {
  const isApp = APPS.includes(Config.Labels['com.docker.compose.service']);
  const restrictions = {
    'no new privileges': HostConfig.SecurityOpt?.some((of) => of.startsWith('no-new-privileges')),
    'no privileged mode': !HostConfig.Privileged,
    'a limit of memory': HostConfig.Memory > 0,
    'a read-only file system': !isApp || HostConfig.ReadonlyRootfs,
    'no capability': !isApp || HostConfig.CapDrop?.includes('ALL'),
    'an account without rights': !isApp || /^[1-9]/.test(Config.User),
  };
  return Object.keys(restrictions).filter((name) => !restrictions[name]);
};

const proveRestrictions = (containers) => {
  for (const container of containers) {
    const missing = missingRestrictions(container);
    if (missing.length > 0)
      throw new Error(`${container.Name} runs without ${missing.join(', ')}.`);
  }
};

/** Only published services may be in a network with outbound access. */
const provePrivate = async (project, containers) => {
  const data = await project.docker(['network', 'inspect', `${project.name}_data`]);
  if (!JSON.parse(data)[0].Internal) throw new Error('The internal network has outbound access.');
  for (const { Name, Config, NetworkSettings } of containers) {
    const isPublic = `${project.name}_public` in NetworkSettings.Networks;
    if (isPublic && !PUBLIC.includes(Config.Labels['com.docker.compose.service'])) {
      throw new Error(`${Name} is in the public network.`);
    }
  }
};

const secretsOf = async (project, image) => {
  const mounts = SECRETS.flatMap((name) => ['--volume', `${project.name}_${name}:/of/${name}:ro`]);
  const show = ['--network', 'none', '--entrypoint', 'sh', image, '-c', 'tail -n +1 /of/*/*'];
  const output = await project.docker(['run', '--rm', ...mounts, ...show]);
  // `==> file <==` stands above each. Of a URL the password counts.
  return output
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('==>'))
    .map((line) => /:\/\/[^:]+:([^@]+)@/.exec(line)?.[1] ?? line.replace(/^[\w-]+:/, ''));
};

const proveSecrets = async (project, containers, image) => {
  const secrets = await secretsOf(project, image);
  if (secrets.length < SECRETS.length || secrets.some((secret) => secret.length < 32)) {
    throw new Error('The secrets cannot be read, or are short.');
  }
  const logs = await project.compose(['logs', '--no-color']);
  const shown = [
    ...containers.map(({ Name, Config }) => [Name, JSON.stringify(Config)]),
    ['a log', logs],
  ];
  for (const [name, text] of shown) {
    if (secrets.some((secret) => text.includes(secret))) throw new Error(`${name} shows a secret.`);
  }
};

/** Verifies that every container is confined as declared in docker-compose.yml. */
export const proveConfinement = async (project) => {
  const containers = await project.containers();
  const { Config } = await project.container('postgres');
  proveRestrictions(containers);
  await provePublished(project, containers);
  await provePrivate(project, containers);
  await proveSecrets(project, containers, Config.Image);
  for (const app of APPS) await proveConfined(project, app);
};
