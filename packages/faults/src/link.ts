import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@tessera/local-stack';

/** What a link does to the bytes of the server. */
export type LinkFault =
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** Cuts each connection after a random number of bytes of the server, up to this. */
  | { readonly kind: 'cut'; readonly bytes: number }
  /** Answers every connection with this instead of the server. */
  | { readonly kind: 'answer'; readonly text: string }
  /** Accepts connections and sends nothing. */
  | { readonly kind: 'silent' }
  /** Refuses connections. */
  | { readonly kind: 'gone' };

/** A TCP connection between two parts of the system, which can be disturbed. */
export interface Link {
  readonly port: number;
  /** Where it leads from now on. */
  leadTo(port: number): void;
  /** Disturbs new connections; open ones are ended. */
  disturb(fault: LinkFault): Promise<void>;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';

const slowed = (milliseconds: number): Transform =>
  new Transform({
    transform(chunk, _encoding, done) {
      void delay(milliseconds).then(() => done(null, chunk));
    },
  });

const cutAfter = (bytes: number): Transform => {
  let left = Math.ceil(Math.random() * bytes);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.subarray(0, left);
      left -= part.length;
      this.push(part);
      if (left === 0) this.push(null);
      done();
    },
  });
};

/** Starts a link on a free loopback port. */
export const startLink = async (): Promise<Link> => {
  const port = await freePort();
  const open = new Set<Socket>();
  let target = 0;
  let fault: LinkFault | undefined;
  const track = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => undefined).once('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (fault?.kind === 'silent') return;
    if (fault?.kind === 'answer') {
      const { text } = fault;
      client.once('data', () => client.end(text));
      return;
    }
    const upstream = track(connect(target, HOST));
    client.pipe(upstream);
    const way =
      fault?.kind === 'slow'
        ? slowed(fault.milliseconds)
        : fault?.kind === 'cut'
          ? cutAfter(fault.bytes)
          : undefined;
    if (way) {
      upstream.pipe(way).pipe(client);
      way.once('end', () => upstream.destroy());
    } else upstream.pipe(client);
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => (way ? client.destroySoon() : client.destroy()));
  });
  const listen = async (): Promise<void> => {
    if (server.listening) return;
    server.listen(port, HOST);
    await once(server, 'listening');
  };
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  await listen();
  return {
    port,
    leadTo(to) {
      target = to;
    },
    async disturb(next) {
      fault = next;
      if (next.kind === 'gone') await close();
      else cut();
    },
    async restore() {
      fault = undefined;
      await listen();
      cut();
    },
    stop: close,
  };
};
