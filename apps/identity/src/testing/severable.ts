import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the database that a test can cut and mend. */
export interface Severable {
  /** The database's URL, by this way. */
  readonly url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Lets the next COMMIT through, and ends its connection in place of the answer: then it resolves. */
  loseAnswerToCommit(): Promise<void>;
  mend(): Promise<void>;
}

/** By its text, or by the name that database-kit prepares it under. */
const commits = ['COMMIT', createHash('sha1').update('COMMIT').digest('hex')];

/** Stands between identity and its database. */
export const severable = async (databaseUrl: string): Promise<Severable> => {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let onCommit: (() => void) | undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.on('data', (chunk: Buffer) => {
      const isLost = onCommit;
      if (!isLost || !commits.some((text) => chunk.includes(text))) return;
      onCommit = undefined;
      far.unpipe(near);
      far.once('data', () => {
        near.destroy();
        isLost();
      });
      far.resume();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const open = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await open(0);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async cut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    loseAnswerToCommit() {
      return new Promise<void>((resolve) => {
        onCommit = resolve;
      });
    },
    async mend() {
      await open(port);
    },
  };
};
