// Our own Docker engine: Debian packages unpacked into the cache, with its data next to them. It runs in its
// own process and mount namespaces, so that the kernel ends all its processes and mounts with it, and changes
// no firewall rules: nothing outlives it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cache, digestOf, directoryOf } from './cache.mjs';
import { refuseInterrupted, run, succeeds } from './command.mjs';
import { RELEASE, requireDebian, unpack } from './debian.mjs';

const PACKAGES = [
  'docker.io',
  'docker-cli',
  'docker-buildx',
  'docker-compose',
  'containerd',
  'tini',
];
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;

/** Unpacks Debian's engine, CLI and plugins into the cache; returns the directory. */
const install = async () => {
  const version = digestOf([], RELEASE, ...PACKAGES);
  const directory = directoryOf('engine', version);
  const stamp = join(directory, 'installed');
  if (!existsSync(stamp)) {
    await unpack(PACKAGES, directory);
    // This program needs a newer C library than that of Debian bookworm, so the machine's own is used.
    rmSync(join(directory, 'usr/sbin/runc'), { force: true });
    const plugins = join(directory, 'config/cli-plugins');
    cpSync(join(directory, 'usr/libexec/docker/cli-plugins'), plugins, { recursive: true });
    writeFileSync(stamp, '');
  }
  return directory;
};

/** Temporary mounts for directories of the machine that the engine writes to. */
const START = `
for directory in /run/containerd /etc/docker; do
  mkdir -p $directory
  mount -t tmpfs tmpfs $directory
done
exec dockerd "$@"`;

const start = (directory, state, log) =>
  spawn(
    'setpriv',
    [
      // Ends with this process, even if that is killed.
      '--pdeathsig',
      'KILL',
      'unshare',
      '--pid',
      '--mount',
      '--mount-proc',
      '--fork',
      '--kill-child',
      'sh',
      '-c',
      START,
      'dockerd',
      '--config-file',
      join(state, 'daemon.json'),
      '--pidfile',
      join(state, 'docker.pid'),
      '--data-root',
      join(cache, 'data'),
      '--exec-root',
      join(state, 'exec'),
      '--host',
      `unix://${join(state, 'docker.sock')}`,
      // docker-proxy publishes the services on loopback; they need no outbound access.
      '--bridge=none',
      '--iptables=false',
      '--ip6tables=false',
      '--ip-forward=false',
    ],
    {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: pathOf(directory) },
    },
  );

const pathOf = (directory) =>
  [join(directory, 'usr/sbin'), join(directory, 'usr/bin'), process.env.PATH].join(delimiter);

/** `unshare` does not forward signals; the engine is its only child. */
const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** Starts the engine, which only contains images of earlier runs. */
export const startOwnEngine = async () => {
  await requireDebian();
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const directory = await install();
  const state = join(cache, 'run');
  rmSync(state, { recursive: true, force: true });
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'daemon.json'), '{}');
  const log = join(state, 'engine.log');
  const engine = start(directory, state, openSync(log, 'a'));
  const ended = once(engine, 'exit');
  const environment = {
    PATH: pathOf(directory),
    DOCKER_HOST: `unix://${join(state, 'docker.sock')}`,
    DOCKER_CONFIG: join(directory, 'config'),
    DOCKER_CONTEXT: '',
  };
  const docker = (args) => run('docker', args, { environment });

  const stop = async () => {
    if (engine.exitCode !== null || engine.signalCode !== null) return;
    const dockerd = childOf(engine.pid);
    // Nothing has started yet; process.kill(0) would signal this process group.
    if (dockerd > 0) process.kill(dockerd, 'SIGTERM');
    else engine.kill('SIGKILL');
    const isEnded = await Promise.race([
      ended.then(() => true),
      sleep(STOP_LIMIT_MS, false, { ref: false }),
    ]);
    if (!isEnded) engine.kill('SIGKILL');
    await ended;
  };

  try {
    const deadline = Date.now() + START_LIMIT_MS;
    while (!(await succeeds('docker', ['version'], { environment }))) {
      refuseInterrupted();
      if (Date.now() > deadline || engine.exitCode !== null) {
        const lines = readFileSync(log, 'utf8').slice(-4000);
        throw new Error(`The Docker engine did not start:\n${lines}`);
      }
      await sleep(100);
    }
    // Leftovers of a killed run.
    const containers = (await docker(['ps', '--all', '--quiet'])).split('\n').filter(Boolean);
    if (containers.length > 0) await docker(['rm', '--force', '--volumes', ...containers]);
    await docker(['network', 'prune', '--force']);
    await docker(['volume', 'prune', '--all', '--force']);
  } catch (error) {
    await stop();
    throw error;
  }
  return { environment, stop };
};
