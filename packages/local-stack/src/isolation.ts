import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/** How a program is kept apart from the network. */
export interface Isolation {
  /** The command that runs another one in a network namespace of its own. */
  readonly unshare: readonly string[];
  /** The path of the socket that leads to the port of the program. */
  readonly socket: string;
}

const HOST = '127.0.0.1';
const CANDIDATES = [
  ['unshare', '--net', '--'],
  // For users other than root, where the kernel permits it.
  ['unshare', '--map-root-user', '--net', '--'],
];

const works = ([command = '', ...args]: readonly string[]): Promise<boolean> =>
  promisify(execFile)(command, [...args, 'ip', 'link', 'set', 'lo', 'up']).then(
    () => true,
    () => false,
  );

/** The longest path of a socket on Linux; a longer one is cut off, to a path that others may use. */
const MAX_SOCKET_BYTES = 107;

/** A path for a socket in a directory of its own. */
const socketPath = async (): Promise<string> => {
  const directory = path.join(tmpdir(), 'tessera-socket-');
  const isShort = Buffer.byteLength(`${directory}XXXXXX/port`) <= MAX_SOCKET_BYTES;
  return path.join(await mkdtemp(isShort ? directory : '/tmp/tessera-socket-'), 'port');
};

/**
 * A way to run a program that can only listen on all addresses so that nobody else reaches it; undefined if this system
 * has none. It needs Linux, `unshare` and `ip`, and the right to create network namespaces.
 */
export const findIsolation = async (): Promise<Isolation | undefined> => {
  for (const unshare of CANDIDATES) {
    if (await works(unshare)) return { unshare, socket: await socketPath() };
  }
  return undefined;
};

/** Leads a port of loopback to a socket; returns what ends it. Rejects if the port is in use. */
export const forwardPort = async (port: number, socket: string): Promise<() => void> => {
  const open = new Set<Socket>();
  const track = (one: Socket): Socket => {
    open.add(one);
    return one
      .unref()
      .on('error', () => undefined)
      .once('close', () => open.delete(one));
  };
  const server = createServer((client) => {
    track(client);
    const target = track(connect(socket));
    client.pipe(target).pipe(client);
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroy());
  });
  await once(server.listen(port, HOST).unref(), 'listening');
  return () => {
    server.close();
    for (const one of open) one.destroy();
  };
};
