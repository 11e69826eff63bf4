import { closeSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { findIsolation, forwardPort, type Isolation } from './isolation.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

const START_LIMIT_MS = 60_000;
const HOST = '127.0.0.1';

export interface BrokerOptions {
  /**
   * AsyncAPI 3 document: its channels become topics, and records that violate their schema are rejected (see
   * `withoutSchemas`). Its servers are replaced by this one. Topics created by clients cannot be consumed.
   */
  asyncapi: object;
  /** Directory of its configuration and log. Default: a temporary directory. */
  directory?: string;
  /** Default: a free port. */
  port?: number;
}

export interface Broker {
  /** Broker address for Kafka clients. */
  brokers: string[];
  port: number;
  /** Whether only this machine reaches it. Otherwise it listens on all addresses, see `findIsolation`. */
  isLoopbackOnly: boolean;
  /** Stops the broker gracefully. Its records are in memory and are lost. */
  stop(): Promise<void>;
  /** Kills it. Starting one on the same port brings it back empty. */
  kill(): Promise<void>;
  /** Sends a signal to its process. */
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a Kafka-compatible broker and waits until it responds. It ends with this process in any case. Throws,
 * with the broker's output, if the given port is in use or nothing responds within a minute.
 */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const port = options.port ?? (await freePort());
  if (await speaksKafka(port)) throw new PortInUseError(`Port ${port} is taken by another broker`);
  const directory = path.resolve(
    options.directory ?? (await mkdtemp(path.join(tmpdir(), 'tessera-broker-'))),
  );
  // The broker reads all files in its folder, so the log is elsewhere.
  const configuration = path.join(directory, 'configuration');
  await mkdir(configuration, { recursive: true, mode: 0o700 });
  await writeFile(
    path.join(configuration, 'asyncapi.json'),
    JSON.stringify({ ...options.asyncapi, servers: { local: localServer(port) } }),
  );
  const log = path.join(directory, 'broker.log');
  const isolation = await findIsolation();
  const broker = launch({
    configuration,
    log,
    remove: options.directory === undefined ? directory : undefined,
    isolated: isolation && { ...isolation, port },
  });
  let close = (): void => undefined;
  try {
    if (isolation) close = await forwardPort(port, isolation.socket).catch(inUse(port));
    await waitUntilReady(broker, port, log);
  } catch (error) {
    close();
    await broker.stop();
    // Another process may have taken the free port meanwhile.
    if (!options.port && error instanceof PortInUseError) return startBroker(options);
    throw error;
  }
  void broker.exited.then(close, close);
  const ending = (end: () => Promise<void>) => async (): Promise<void> => {
    await end();
    close();
  };
  return {
    brokers: [`${HOST}:${port}`],
    port,
    isLoopbackOnly: isolation !== undefined,
    stop: ending(broker.stop),
    kill: ending(broker.kill),
    signal: broker.signal,
  };
}

class PortInUseError extends Error {}

const inUse =
  (port: number) =>
  (cause: Error): never => {
    throw new PortInUseError(`The broker did not start on port ${port}: ${cause.message}`, {
      cause,
    });
  };

const localServer = (port: number): object => ({
  host: `${HOST}:${port}`,
  protocol: 'kafka',
  // Zero would mean the default of three seconds, which every new consumer would wait.
  bindings: { kafka: { 'group.initial.rebalance.delay.ms': 1 } },
});

function launch({
  configuration,
  log,
  remove,
  isolated,
}: {
  readonly configuration: string;
  readonly log: string;
  readonly remove: string | undefined;
  readonly isolated: (Isolation & { readonly port: number }) | undefined;
}): SupervisedProcess {
  const output = openSync(log, 'w', 0o600);
  try {
    return superviseProcess({
      command: executable(),
      // It splits path arguments at spaces and commas; this path contains neither.
      cwd: path.dirname(configuration),
      args: [
        `--providers-file-directory=./${path.basename(configuration)}`,
        '--mcp-server-enabled=false',
        '--health-enabled=false',
        '--api-search-enabled=false',
        // Its web interface cannot be disabled and would listen on all addresses (as the broker itself does,
        // also without a setting): an invalid port prevents it from starting.
        '--api-port=65536',
      ],
      signal: 'SIGTERM',
      remove,
      isolated,
      output,
    });
  } finally {
    closeSync(output);
  }
}

/** Located in the same way as by the package's own launcher. */
function executable(): string {
  const launcher = createRequire(import.meta.url).resolve('go-mokapi/package.json');
  const found: unknown = createRequire(launcher)(`@go-mokapi/${process.platform}-${process.arch}`);
  return String(found);
}

async function waitUntilReady(broker: SupervisedProcess, port: number, log: string): Promise<void> {
  let ended = false;
  void broker.exited.then(() => {
    ended = true;
  });
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await speaksKafka(port))) {
    const lines = await readFile(log, 'utf8');
    // It keeps running without its port if that is in use.
    const isTaken = lines.includes(`listen tcp :${port}:`);
    if (ended || isTaken || Date.now() > deadline) {
      const errors = lines.match(/(?<=level=error ).*/g) ?? [lines.slice(-2000)];
      const problem = `The broker did not start on port ${port}: ${errors.join('; ')}`;
      throw isTaken ? new PortInUseError(problem) : new Error(problem);
    }
    await delay(10);
  }
}

/** Sends the first request of Kafka clients (ApiVersions 0) and waits for a response. */
function speaksKafka(port: number): Promise<boolean> {
  const correlationId = 20_07_1969;
  const request = Buffer.alloc(14);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(18, 4);
  request.writeInt32BE(correlationId, 8);
  request.writeInt16BE(-1, 12);
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => socket.write(request));
    const finish = (speaks: boolean): void => {
      socket.destroy();
      resolve(speaks);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once('data', (data) =>
      finish(data.length >= 8 && data.readInt32BE(4) === correlationId),
    );
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
  });
}
