import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** The default limit of a content, in bytes. */
const MAX_BYTES = 100 * 1024 ** 2;

/** A server that speaks the protocol of clamd. */
export interface ClamdStandIn {
  readonly url: string;
  /** The sizes of the contents that were scanned, in order. */
  readonly scanned: readonly number[];
  /** Makes every scan get this reply, or none (`never`). With undefined, scans get verdicts again. */
  reply(text: string | 'never' | undefined): void;
  /** Refuses connections until `restart`, like a clamd that is down. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Reads the frames of a connection. Calls `ended` with the content, or `exceeded` once it is too large. */
const readFrames = (
  socket: Socket,
  maxBytes: number,
  { ended, exceeded }: { ended(content: Buffer): void; exceeded(): void },
): void => {
  const command = 'zINSTREAM\0';
  let rest = Buffer.alloc(0);
  let isCommandRead = false;
  let content = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    if (!isCommandRead) {
      if (rest.length < command.length) return;
      if (rest.toString('latin1', 0, command.length) !== command) {
        socket.end('UNKNOWN COMMAND\0');
        return;
      }
      rest = rest.subarray(command.length);
      isCommandRead = true;
    }
    while (rest.length >= 4) {
      const length = rest.readUInt32BE();
      if (length === 0) return ended(content);
      if (content.length + length > maxBytes) return exceeded();
      if (rest.length < 4 + length) return;
      content = Buffer.concat([content, rest.subarray(4, 4 + length)]);
      rest = rest.subarray(4 + length);
    }
  });
};

/** Starts a stand-in on a free loopback port, which finds exactly these contents. */
export const startClamdStandIn = async (
  signatures: ReadonlyMap<string, Buffer>,
  { maxBytes = MAX_BYTES }: { readonly maxBytes?: number } = {},
): Promise<ClamdStandIn> => {
  const scanned: number[] = [];
  const open = new Set<Socket>();
  let planned: string | undefined;
  const answer = (socket: Socket, content: Buffer): void => {
    scanned.push(content.length);
    if (planned === 'never') return;
    const [name] = [...signatures].find(([, infected]) => infected.equals(content)) ?? [];
    socket.end(`${planned ?? (name ? `stream: ${name} FOUND` : 'stream: OK')}\0`);
  };
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    readFrames(socket, maxBytes, {
      ended: (content) => answer(socket, content),
      // As clamd does, without reading the rest.
      exceeded: () => socket.pause().end('INSTREAM size limit exceeded. ERROR\0'),
    });
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of open) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `tcp://127.0.0.1:${port}`,
    scanned,
    reply: (text) => {
      planned = text;
    },
    kill: close,
    restart: () => listen(port),
    stop: close,
  };
};
