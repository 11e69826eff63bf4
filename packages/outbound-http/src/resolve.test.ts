import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PublicHttp } from './public-http.ts';
import { PublicTcp } from './public-tcp.ts';
import { createResolve } from './resolve.ts';
import {
  type NameServer,
  NO_SUCH_NAME,
  type Said,
  SERVER_FAILURE,
  startNameServer,
} from './testing/name-server.ts';

const allowedNetworks = ['127.0.0.1/32'];

let server: NameServer | undefined;
let http: PublicHttp | undefined;
afterEach(async () => {
  await http?.close();
  server?.stop();
});

/** A client that asks a name server, which says what `say` returns. */
const connect = async (say: (name: string) => Said) => {
  server = await startNameServer(say);
  const resolve = createResolve({ servers: [server.address] });
  http = new PublicHttp({ allowedNetworks, resolve });
  return { server, http, tcp: new PublicTcp({ allowedNetworks, resolve }) };
};

test('A name server that does not answer delays no lookup of the system, and the requests end at their deadline', async () => {
  const { server: silent, http: client, tcp } = await connect(() => undefined);
  const ended: number[] = [];
  const caller = new AbortController();
  const waiting = Array.from({ length: 20 }, async (_, one) => {
    const pending = client.request(`http://${one}.hook.test/`, { signal: caller.signal });
    await expect(pending).rejects.toThrow('no longer needed');
    ended.push(one);
  });
  await silent.untilAsked(waiting.length);
  expect(await lookup('localhost')).toMatchObject({ address: expect.any(String) });
  expect(ended).toEqual([]);
  caller.abort(new Error('no longer needed'));
  await Promise.all(waiting);
  await expect(client.request('http://hook.test/', { timeoutMs: 100 })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  await expect(tcp.connect({ host: 'mail.test', port: 25, timeoutMs: 100 })).rejects.toMatchObject({
    name: 'ConnectTimeout',
  });
});

test('A lookup ends when nobody waits for its result', async () => {
  const { server: silent } = await connect(() => undefined);
  const caller = new AbortController();
  const resolving = createResolve({ servers: [silent.address] })('hook.test', caller.signal);
  await silent.untilAsked(1);
  caller.abort();
  await expect(resolving).rejects.toMatchObject({ code: 'ECANCELLED' });
  await expect(createResolve()('hook.test', caller.signal)).rejects.toThrow('aborted');
});

test('A request goes to the address that the name server says, also if the name has only one kind of address', async () => {
  const receiver = createServer((_req, res) => void res.end('ok')).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const { http: client, server: names } = await connect((name) =>
    name === 'hook.test' ? '127.0.0.1' : '10.0.0.1',
  );
  const { status } = await client.request(`http://hook.test:${port}/`);
  expect([status, [...new Set(names.asked)]]).toEqual([200, ['hook.test']]);
  await expect(client.request(`http://internal.test:${port}/`)).rejects.toThrow(
    'internal.test is not at a public address',
  );
  receiver.closeAllConnections();
  receiver.close();
});

test.each([
  ['does not exist', NO_SUCH_NAME, 'ENOTFOUND', false],
  ['cannot be resolved now', SERVER_FAILURE, 'ESERVFAIL', true],
])(
  'A name that %s is an error that says whether a later attempt may succeed',
  async (_, said, code, isTemporary) => {
    const { http: client } = await connect(() => said);
    await expect(client.request('http://hook.test/')).rejects.toMatchObject({
      name: 'LookupFailed',
      code,
      isTemporary,
    });
  },
);

test('Only names in the hosts file are local, and names of one label if there are any', async () => {
  const { server: names } = await connect(() => NO_SUCH_NAME);
  const servers = [names.address];
  const { signal } = new AbortController();
  const resolve = createResolve({ servers });
  const loopback = { address: '127.0.0.1', family: 4 };
  for (const name of ['localhost', '127.1', '0x7f000001', '2130706433']) {
    expect(await resolve(name, signal)).toContainEqual(loopback);
  }
  expect(names.asked).toEqual([]);
  await expect(resolve('intranet', signal)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  expect(names.asked).toContain('intranet');
  const asked = names.asked.length;
  await createResolve({ servers, hasLocalNames: true })('intranet', signal).catch(() => undefined);
  expect(names.asked).toHaveLength(asked);
});
