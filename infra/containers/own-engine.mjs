// A Docker engine of our own: Debian's packages unpacked into the cache, with its data beside them. It runs in
// process and mount namespaces, so that the kernel ends its last process and unmounts its last file system
// with it, and it changes no firewall rule: nothing outlives it.
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
import { run, succeeds } from './command.mjs';
import { RELEASE, requireDebian, unpack } from './debian.mjs';

const PACKAGES = [
  ...['docker.io', 'docker-cli', 'docker-buildx', 'docker-compose', 'containerd', 'tini'],
];
const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;

/** Debian's engine, CLI and plugins in the cache. Gives the directory. */
const install = async () => {
  const version = digestOf([], RELEASE, ...PACKAGES);
  const directory = directoryOf('engine', version);
  const stamp = join(directory, 'installed');
  if (!existsSync(stamp)) {
    await unpack(PACKAGES, directory);
    // The one program that needs a newer C library than Debian bookworm's: the machine's own is used.
    rmSync(join(directory, 'usr/sbin/runc'), { force: true });
    const plugins = join(directory, 'config/cli-plugins');
    cpSync(join(directory, 'usr/libexec/docker/cli-plugins'), plugins, { recursive: true });
    writeFileSync(stamp, '');
  }
  return directory;
};

/** What the engine would write into directories of the machine vanishes with its mounts. */
const START = `
for directory in /run/containerd /etc/docker; do
  mkdir -p $directory
  mount -t tmpfs tmpfs $directory
done
exec dockerd "$@"`;

const start = (directory, run_, log) =>
  spawn(
    'setpriv',
    [
      // It ends with this process, even where that is killed.
      ...['--pdeathsig', 'KILL'],
      ...['unshare', '--pid', '--mount', '--mount-proc', '--fork', '--kill-child'],
      ...['sh', '-c', START, 'dockerd'],
      ...['--config-file', join(run_, 'daemon.json'), '--pidfile', join(run_, 'docker.pid')],
      ...['--data-root', join(cache, 'data'), '--exec-root', join(run_, 'exec')],
      ...['--host', `unix://${join(run_, 'docker.sock')}`],
      // The services are published by docker-proxy on loopback and need no way out.
      ...['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false'],
    ],
    {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: pathOf(directory) },
    },
  );

const pathOf = (directory) =>
  [join(directory, 'usr/sbin'), join(directory, 'usr/bin'), process.env.PATH].join(delimiter);

/** `unshare` passes no signal on: the engine is its only child. */
const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** Starts the engine, with nothing in it but the images of earlier runs. */
export const startOwnEngine = async () => {
  await requireDebian();
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const directory = await install();
  const run_ = join(cache, 'run');
  rmSync(run_, { recursive: true, force: true });
  mkdirSync(run_, { recursive: true });
  writeFileSync(join(run_, 'daemon.json'), '{}');
  const log = join(run_, 'engine.log');
  const engine = start(directory, run_, openSync(log, 'a'));
  const ended = once(engine, 'exit');
  const environment = {
    PATH: pathOf(directory),
    DOCKER_HOST: `unix://${join(run_, 'docker.sock')}`,
    DOCKER_CONFIG: join(directory, 'config'),
    DOCKER_CONTEXT: '',
  };
  const docker = (args) => run('docker', args, { environment });

  const stop = async () => {
    if (engine.exitCode !== null || engine.signalCode !== null) return;
    process.kill(childOf(engine.pid), 'SIGTERM');
    const isEnded = await Promise.race([
      ended.then(() => true),
      sleep(STOP_LIMIT_MS, false, { ref: false }),
    ]);
    if (!isEnded) engine.kill('SIGKILL');
    await ended;
  };

  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await succeeds('docker', ['version'], { environment }))) {
    if (Date.now() > deadline || engine.exitCode !== null) {
      await stop();
      throw new Error(
        `The Docker engine did not start:\n${readFileSync(log, 'utf8').slice(-4000)}`,
      );
    }
    await sleep(100);
  }
  // What a run left that was killed.
  const containers = (await docker(['ps', '--all', '--quiet'])).split('\n').filter(Boolean);
  if (containers.length > 0) await docker(['rm', '--force', '--volumes', ...containers]);
  await docker(['network', 'prune', '--force']);
  await docker(['volume', 'prune', '--all', '--force']);
  return { environment, stop };
};
