import { open } from 'node:fs/promises';
import { connect } from 'node:net';
import { freePort } from './free-port.ts';
import { superviseProcess } from './supervised-process.ts';
import { until } from './until.ts';

export interface RedisServer {
  readonly url: string;
  /** Kills it; its counters are lost. */
  kill(): Promise<void>;
  /** Restarts it on the same port after `kill`. */
  restart(): Promise<void>;
  /** Sends a signal to its process, such as SIGSTOP and SIGCONT. */
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

const isReachable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const done = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('error', () => done(false));
    socket.once('data', (data) => done(data.toString().startsWith('+PONG')));
    socket.write('PING\r\n');
  });

/**
 * Starts the machine's `redis-server` on a free loopback port without persistence. It ends with this process.
 * Throws an error that says what to install if there is none.
 */
export const startRedis = async (): Promise<RedisServer> => {
  const port = await freePort();
  const run = async () => {
    const sink = await open('/dev/null', 'w');
    const server = superviseProcess({
      command: 'redis-server',
      args: ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
      signal: 'SIGTERM',
      output: sink.fd,
    });
    await sink.close();
    let code: number | undefined;
    server.exited.then((ended) => {
      code = ended;
    });
    await until(async () => code !== undefined || (await isReachable(port)));
    if (code !== undefined) {
      throw new Error(
        `redis-server did not start (${code}). It must be installed (Debian: redis-server).`,
      );
    }
    return server;
  };
  let server = await run();
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: () => server.kill(),
    async restart() {
      server = await run();
    },
    signal: (name) => server.signal(name),
    stop: () => server.stop(),
  };
};
