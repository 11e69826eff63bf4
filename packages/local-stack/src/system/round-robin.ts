import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A reverse proxy that sends each request to the next replica, on a connection of its own. */
export interface RoundRobin {
  readonly url: string;
  /** The number of requests that each replica has got. */
  readonly counts: ReadonlyMap<string, number>;
  add(replica: string): void;
  remove(replica: string): void;
  stop(): Promise<void>;
}

const forward = (to: string, req: IncomingMessage, res: ServerResponse): void => {
  const options = { method: req.method, headers: req.headers, agent: false as const };
  const upstream = request(new URL(req.url ?? '/', to), options, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => res.destroy()).pipe(res);
  });
  upstream.on('error', () => {
    if (res.headersSent) res.destroy();
    else res.writeHead(502).end();
  });
  res.on('close', () => upstream.destroy());
  req.pipe(upstream);
};

/** Starts a proxy without replicas: 503 until one is added. */
export const startRoundRobin = async (): Promise<RoundRobin> => {
  const replicas: string[] = [];
  const counts = new Map<string, number>();
  const server = createServer((req, res) => {
    const next = replicas.shift();
    if (next === undefined) {
      res.writeHead(503).end();
      return;
    }
    replicas.push(next);
    counts.set(next, (counts.get(next) ?? 0) + 1);
    forward(next, req, res);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    add: (replica) => void replicas.push(replica),
    remove: (replica) => void replicas.splice(replicas.indexOf(replica), 1),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
