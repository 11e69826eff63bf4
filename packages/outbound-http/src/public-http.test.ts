import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Resolve } from './lookup.ts';
import { PublicHttp, type PublicHttpOptions } from './public-http.ts';

const LOOPBACK = { address: '127.0.0.1', family: 4 };
const PRIVATE = { address: '10.0.0.1', family: 4 };

const servers: Server[] = [];
const clients: PublicHttp[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on 127.0.0.1, whose address the client can be configured to treat as public. */
const serve = async (answer: RequestListener) => {
  const seen: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    seen.push(req);
    answer(req, res);
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { seen, port, url: (path = '/') => `http://hook.test:${port}${path}` };
};

const connect = (options: PublicHttpOptions = {}): PublicHttp => {
  const client = new PublicHttp({
    allowedNetworks: ['127.0.0.1/32'],
    resolve: async () => [LOOPBACK],
    ...options,
  });
  clients.push(client);
  return client;
};

const ok: RequestListener = (_req, res) => void res.end('ok');
const redirectTo =
  (location: (req: IncomingMessage) => string, status = 302): RequestListener =>
  (req, res) =>
    void res.writeHead(status, { location: location(req) }).end();

test('A request goes to the address that was checked, names the host of its URL, and resolves that name once', async () => {
  const { url, seen, port } = await serve((req, res) => {
    req.pipe(res.writeHead(201, { 'x-kind': 'echo' }));
  });
  const answers = [[LOOPBACK], [PRIVATE]];
  const asked: string[] = [];
  const resolve: Resolve = async (hostname) => {
    asked.push(hostname);
    return answers.shift() ?? [];
  };
  const response = await connect({ resolve }).request(url('/hook?a=1'), {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'payload',
  });
  expect([response.status, response.headers['x-kind'], `${response.body}`, response.url]).toEqual([
    201,
    'echo',
    'payload',
    url('/hook?a=1'),
  ]);
  expect(asked).toEqual(['hook.test']);
  expect(seen[0]?.headers.host).toBe(`hook.test:${port}`);
});

test.each([
  ['127.0.0.1', 'loopback'],
  ['2130706433', 'loopback in decimal notation'],
  ['0x7f000001', 'loopback in hexadecimal notation'],
  ['0177.0.0.1', 'loopback in octal notation'],
  ['127.1', 'loopback, shortened'],
  ['[::1]', 'loopback of IPv6'],
  ['[::ffff:127.0.0.1]', 'loopback, mapped into IPv6'],
  ['169.254.169.254', 'metadata'],
  ['10.0.0.1', 'private'],
])('No request reaches %s (%s)', async (host) => {
  const { seen, port } = await serve(ok);
  const client = connect({ allowedNetworks: [] });
  await expect(client.request(`http://${host}:${port}/`)).rejects.toThrow('not a public address');
  expect(() => client.check(`https://${host}/`)).toThrow('not a public address');
  expect(seen).toHaveLength(0);
});

test('No request reaches a host with a refused address, whatever its other addresses are', async () => {
  const { seen, url } = await serve(ok);
  const client = connect({ resolve: async () => [LOOPBACK, PRIVATE] });
  await expect(client.request(url())).rejects.toThrow('hook.test is not at a public address');
  expect(seen).toHaveLength(0);
});

test('A redirect is followed, and its target is checked like the first URL', async () => {
  const secret = await serve(ok);
  const target = await serve(ok);
  const { url } = await serve(
    redirectTo((req) => {
      if (req.url === '/address') return `http://10.0.0.1:${secret.port}/`;
      if (req.url === '/name') return `http://internal.test:${secret.port}/`;
      if (req.url === '/file') return 'file:///etc/passwd';
      return target.url('/next');
    }),
  );
  const client = connect({
    resolve: async (hostname) => [hostname === 'internal.test' ? PRIVATE : LOOPBACK],
  });
  expect(await client.request(url('/there'))).toMatchObject({
    status: 200,
    url: target.url('/next'),
  });
  await expect(client.request(url('/address'))).rejects.toThrow('10.0.0.1 is not a public address');
  await expect(client.request(url('/name'))).rejects.toThrow('not at a public address');
  await expect(client.request(url('/file'))).rejects.toThrow('must begin with https:// or http://');
  expect(secret.seen).toHaveLength(0);
});

test('A redirect to another origin drops credentials, and a redirect that changes the method drops the body', async () => {
  const target = await serve((req, res) => void req.pipe(res));
  const request = {
    method: 'POST',
    headers: { Authorization: 'Bearer secret', 'Content-Type': 'text/plain', 'X-Kind': 'a' },
    body: 'payload',
  } as const;
  for (const status of [307, 303]) {
    const { url } = await serve(redirectTo(() => target.url(), status));
    await connect().request(url(), request);
  }
  const [kept, changed] = target.seen;
  expect([kept?.method, kept?.headers['content-type']]).toEqual(['POST', 'text/plain']);
  expect([changed?.method, changed?.headers['content-type']]).toEqual(['GET', undefined]);
  for (const { headers } of target.seen) {
    expect([headers.authorization, headers['x-kind']]).toEqual([undefined, 'a']);
  }
});

test('A chain of redirects ends at the limit', async () => {
  const { url, seen } = await serve(redirectTo((req) => `${req.url}x`));
  await expect(connect({ maxRedirects: 2 }).request(url())).rejects.toThrow('Too many redirects');
  expect(seen).toHaveLength(3);
});

test('A response that never ends or is too slow fails at the deadline', async () => {
  const { url } = await serve((_req, res) => void res.writeHead(200).write('a'));
  await expect(connect().request(url(), { timeoutMs: 200 })).rejects.toThrow(/timeout/);
});

test('The deadline includes the DNS lookup', async () => {
  const client = connect({ resolve: () => new Promise(() => undefined) });
  const response = client.request('http://hook.test/', { timeoutMs: 200 });
  await expect(response).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('A redirect with 301 or 302 keeps the method of PUT', async () => {
  const target = await serve((req, res) => void req.pipe(res));
  const { url } = await serve(redirectTo(() => target.url(), 302));
  const { body } = await connect().request(url(), { method: 'PUT', body: 'payload' });
  expect([target.seen[0]?.method, `${body}`]).toEqual(['PUT', 'payload']);
});

test('A request ends when its caller aborts it', async () => {
  const { url } = await serve(() => undefined);
  const caller = new AbortController();
  const response = connect().request(url(), { signal: caller.signal });
  caller.abort(new Error('no longer needed'));
  await expect(response).rejects.toThrow('no longer needed');
});

test('Nothing is sent after the client has been closed', async () => {
  const { url, seen } = await serve(ok);
  const client = connect();
  const pending = client.request(url());
  await client.close();
  await expect(pending).rejects.toThrow();
  await expect(client.request(url())).rejects.toThrow('destroyed');
  expect(seen).toEqual([]);
});

test('Reading stops when a response is too large', async () => {
  const { url } = await serve((_req, res) => {
    const chunk = Buffer.alloc(64 * 1024);
    const write = (): void => {
      while (!res.destroyed && res.write(chunk));
    };
    res.on('drain', write);
    write();
  });
  const response = connect().request(url(), { maxBytes: 100_000 });
  await expect(response).rejects.toThrow('larger than 100000 bytes');
});

test('A response can be cut off instead of being an error', async () => {
  const { url } = await serve((_req, res) => void res.end('x'.repeat(200_000)));
  const options = { maxBytes: 1000, overflow: 'truncate' } as const;
  const { status, body } = await connect().request(url(), options);
  expect([status, body.length]).toEqual([200, 1000]);
});

test('A redirect can be returned instead of being followed', async () => {
  const target = await serve(ok);
  const { url } = await serve(redirectTo(() => target.url()));
  const { status, headers } = await connect().request(url(), { redirect: 'manual' });
  expect([status, headers.location]).toEqual([302, target.url()]);
  expect(target.seen).toHaveLength(0);
});

test.each([
  ['ftp://hook.test/', 'must begin with https:// or http://'],
  ['http://user:secret@hook.test/', 'must not contain a user name or password'],
  ['hook', 'The URL is invalid'],
])('%s is refused without a lookup, and the error does not repeat the URL', async (url, reason) => {
  let lookups = 0;
  const resolve: Resolve = async () => {
    lookups += 1;
    return [LOOPBACK];
  };
  const response = connect({ resolve }).request(url);
  await expect(response).rejects.toThrow(reason);
  await expect(response).rejects.not.toThrow('secret');
  expect(lookups).toBe(0);
});
