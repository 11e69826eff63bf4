// Apache Kafka, one KRaft node on loopback, with the interface of the embedded broker
// (packages/local-stack/src/broker.ts). From a shell, until Ctrl-C:
//
// node --import tsx infra/kafka/kafka.mjs [--port 9092] [--directory where/its/data/stay]
// node --import tsx infra/kafka/kafka.mjs --prepare   installs it, and halves the time of later starts
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { freePort } from '../../packages/local-stack/src/free-port.ts';
import { superviseProcess } from '../../packages/local-stack/src/supervised-process.ts';
import { classes, formatted, install, jars } from './install.mjs';
import { scramUsers, secureSettings } from './secure.mjs';

const HOST = '127.0.0.1';
const START_LIMIT_MS = 60_000;

const java = [
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  `-Dlog4j2.configurationFile=${fileURLToPath(new URL('log4j2.properties', import.meta.url))}`,
  '-cp',
  jars,
];

/** The listener on `port` is for clients; with TLS, Kafka itself uses another one. */
const listeners = (port, plainPort) =>
  plainPort === undefined
    ? `PLAINTEXT://${HOST}:${port}`
    : `SECURE://${HOST}:${port},PLAINTEXT://${HOST}:${plainPort}`;

const settings = ({ directory, port, plainPort, controllerPort }) => ({
  'process.roles': 'broker,controller',
  'node.id': 1,
  listeners: `${listeners(port, plainPort)},CONTROLLER://${HOST}:${controllerPort}`,
  'listener.security.protocol.map': 'SECURE:SASL_SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'controller.listener.names': 'CONTROLLER',
  'controller.quorum.voters': `1@${HOST}:${controllerPort}`,
  'log.dirs': join(directory, 'data'),
  // Replication factors for a single node.
  'offsets.topic.replication.factor': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'share.coordinator.state.topic.replication.factor': 1,
  'share.coordinator.state.topic.min.isr': 1,
  // Small and fast to start.
  'offsets.topic.num.partitions': 1,
  'transaction.state.log.num.partitions': 1,
  'log.cleaner.dedupe.buffer.size': 2 ** 21,
  'num.io.threads': 2,
  'num.network.threads': 1,
  'group.initial.rebalance.delay.ms': 0,
  // A killed client can rejoin after this time.
  'broker.session.timeout.ms': 2000,
  'broker.heartbeat.interval.ms': 500,
  // Missing topics are errors, as in a well-configured cluster.
  'auto.create.topics.enable': false,
});

/** Data directories of killed brokers, kept for a restart on the same port. */
const killed = new Map();

const temporary = () => mkdtemp(join(tmpdir(), 'tessera-kafka-'));

/**
 * Starts Kafka and waits until it takes clients into groups. Data that are in the directory already, or
 * that a broker killed on the same port left, are used again. It ends with this process at the latest.
 * Throws what is missing on this machine, or what Kafka had to say.
 *
 * @param {{
 *   directory?: string,
 *   port?: number,
 *   dump?: string,
 *   secure?: { keystore: string, users: Record<string, string> },
 * }} options Default: a temporary directory, a free port. `dump`: the file that takes the classes it has loaded when it
 *   ends. `secure`: requires TLS and one of these users, who have these passwords.
 * @returns {Promise<import('../../packages/local-stack/src/broker.ts').Broker & { exited: Promise<number> }>}
 */
export async function startBroker(options = {}) {
  install();
  const port = options.port ?? (await freePort());
  if (!(await isFree(port))) throw new Error(`Kafka cannot start: port ${port} is taken`);
  const directory = resolve(options.directory ?? killed.get(port) ?? (await temporary()));
  killed.delete(port);
  await mkdir(directory, { recursive: true });
  const properties = join(directory, 'server.properties');
  const { secure } = options;
  const plainPort = secure && (await freePort());
  const lines = Object.entries({
    ...settings({ directory, port, plainPort, controllerPort: await freePort() }),
    ...(secure && secureSettings(secure)),
  });
  await writeFile(properties, lines.map(([name, value]) => `${name}=${value}\n`).join(''));
  if (!existsSync(join(directory, 'data', 'meta.properties')))
    await format(directory, properties, secure?.users);

  const log = await open(join(directory, 'kafka.log'), 'w+', 0o600);
  const kafka = superviseProcess({
    command: 'java',
    args: [...java, ...sharing(options.dump), 'kafka.Kafka', properties],
    signal: 'SIGTERM',
    remove: options.directory === undefined ? directory : undefined,
    output: log.fd,
  });
  try {
    if (!(await answers(kafka, plainPort ?? port))) {
      await kafka.stop();
      // Read through the handle, since the file may have been deleted with its directory.
      const { buffer, bytesRead } = await log.read({ position: 0 });
      const lines = buffer.toString('utf8', 0, Math.min(bytesRead, 2000)).trim();
      throw new Error(`Kafka did not start on port ${port}: ${lines}`);
    }
  } finally {
    await log.close();
  }
  return {
    brokers: [`${HOST}:${port}`],
    port,
    exited: kafka.exited,
    stop: kafka.stop,
    async kill() {
      if (options.directory === undefined) {
        // Temporary directories are removed at exit, but not after a crash.
        const kept = await temporary();
        await rename(directory, kept);
        killed.set(port, kept);
      }
      await kafka.kill();
    },
  };
}

const isFree = (port) =>
  new Promise((tell) => {
    const server = createServer();
    server.once('error', () => tell(false));
    server.listen(port, HOST, () => server.close(() => tell(true)));
  });

/**
 * The files of a new node. Without users they are created once and copied, because formatting takes half as long as a
 * start.
 */
async function format(directory, properties, users) {
  const data = join(directory, 'data');
  if (users || !existsSync(formatted)) {
    const clusterId = randomBytes(16).toString('base64url');
    const tool = [
      'kafka.tools.StorageTool',
      'format',
      `--cluster-id=${clusterId}`,
      '-c',
      properties,
      ...scramUsers(users ?? {}),
    ];
    await promisify(execFile)('java', [...java, ...tool]);
    if (users) return;
    const copy = `${formatted}.${clusterId}`;
    await cp(data, copy, { recursive: true });
    // Another process may have been faster.
    await rename(copy, formatted).catch(() => rm(copy, { recursive: true }));
    return;
  }
  await cp(formatted, data, { recursive: true });
}

/** Class data sharing of the JVM: creates the archive, or uses an existing one. */
const sharing = (dump) => {
  if (dump) return [`-XX:ArchiveClassesAtExit=${dump}`];
  return existsSync(classes) ? [`-XX:SharedArchiveFile=${classes}`] : [];
};

/** Installs Kafka and creates the class data archive, once. */
async function prepare() {
  install();
  if (existsSync(classes)) return;
  const dump = `${classes}.new`;
  const kafka = await startBroker({ dump });
  await kafka.stop();
  // Without it, only the start takes longer.
  if (existsSync(dump)) await rename(dump, classes);
}

/** Whether clients can join a group before the broker ends or the timeout expires. */
async function answers(kafka, port) {
  let ended = false;
  kafka.exited.then(() => {
    ended = true;
  });
  for (const deadline = Date.now() + START_LIMIT_MS; !ended && Date.now() < deadline; ) {
    if (await findsCoordinator(port)) return true;
    await sleep(20);
  }
  return false;
}

/** Sends FindCoordinator (version 0): no error means that metadata and groups are ready. */
function findsCoordinator(port) {
  const request = Buffer.from('\0\0\0\x0f\0\x0a\0\0\0\0\0\0\xff\xff\0\x03any', 'latin1');
  return new Promise((tell) => {
    const socket = connect(port, HOST, () => socket.write(request));
    const answer = (found) => {
      socket.destroy();
      tell(found);
    };
    socket.setTimeout(5000, () => answer(false));
    socket.once('data', (data) => answer(data.length > 10 && data.readInt16BE(8) === 0));
    socket.once('error', () => answer(false));
    socket.once('close', () => answer(false));
  });
}

async function main() {
  const {
    port,
    directory,
    prepare: isPreparing,
  } = parseArgs({
    options: {
      port: { type: 'string' },
      directory: { type: 'string' },
      prepare: { type: 'boolean' },
    },
  }).values;
  if (isPreparing) return prepare();
  const kafka = await startBroker({ port: port && Number(port), directory });
  console.log(`Kafka answers on ${kafka.brokers}`);
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      asked = true;
      kafka.stop();
    });
  }
  // Neither a signal nor a kept process keeps this one alive.
  const awake = setInterval(() => undefined, 60_000);
  await kafka.exited;
  clearInterval(awake);
  if (!asked) throw new Error('Kafka has ended');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
