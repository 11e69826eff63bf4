import { existsSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';
import { superviseProcess } from './supervised-process.ts';
import { until } from './until.ts';

const jar = fileURLToPath(new URL('../../../infra/s3/target/lib/s3mock-exec.jar', import.meta.url));

export interface S3Server {
  readonly endpoint: string;
  /** A bucket that exists. */
  readonly bucket: string;
  /** Any credentials are accepted. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Kills it; objects stay. */
  kill(): Promise<void>;
  /** Restarts it on the same port with the same objects after `kill`. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts S3Mock, which `npm run test:s3` installs, on a free loopback port. It ends with this process. Throws if it is
 * not installed.
 */
export const startS3 = async (): Promise<S3Server> => {
  if (!existsSync(jar)) throw new Error('S3Mock is not installed: npm run test:s3 installs it.');
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-s3-'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = 'files';
  const isReachable = () =>
    fetch(endpoint).then(
      ({ ok }) => ok,
      () => false,
    );
  const run = async () => {
    const log = path.join(directory, 'log');
    const output = await open(log, 'w+');
    const server = superviseProcess({
      command: 'java',
      args: [
        '-Xmx256m',
        '-XX:+UseSerialGC',
        '-XX:TieredStopAtLevel=1',
        '-jar',
        jar,
        `--http.port=${port}`,
        // The port for TLS, which nobody uses.
        '--server.port=0',
        '--server.address=127.0.0.1',
      ],
      signal: 'SIGTERM',
      output: output.fd,
      environment: {
        COM_ADOBE_TESTING_S3MOCK_STORE_ROOT: path.join(directory, 'objects'),
        COM_ADOBE_TESTING_S3MOCK_STORE_INITIAL_BUCKETS: bucket,
        COM_ADOBE_TESTING_S3MOCK_STORE_RETAIN_FILES_ON_EXIT: 'true',
      },
    });
    let code: number | undefined;
    server.exited.then((ended) => {
      code = ended;
    });
    await until(async () => code !== undefined || (await isReachable()));
    if (code !== undefined) {
      const { buffer, bytesRead } = await output.read({ position: 0 });
      throw new Error(`S3Mock did not start (${code}): ${buffer.toString('utf8', 0, bytesRead)}`);
    }
    await output.close();
    return server;
  };
  let server = await run();
  return {
    endpoint,
    bucket,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    kill: () => server.kill(),
    async restart() {
      server = await run();
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};
