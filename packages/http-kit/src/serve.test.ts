import { once } from 'node:events';
import { Agent, get, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import express from 'express';
import { type Listening, listen, PortInUseError } from './index.ts';

const { jest } = import.meta;

afterEach(() => {
  jest.restoreAllMocks();
});

const place = { host: '127.0.0.1', port: 0, variable: 'THINGS_PORT' };

/** A server that holds its responses until the test releases them. */
const holding = async () => {
  const held: ServerResponse[] = [];
  const listening = await listen((_req, res) => void held.push(res), place);
  const agent = new Agent({ keepAlive: true });
  const call = async (): Promise<{ text: string; connection: string | undefined }> => {
    const [answer] = (await once(get(listening.url, { agent }), 'response')) as [IncomingMessage];
    return { text: (await answer.toArray()).join(''), connection: answer.headers.connection };
  };
  const received = async (count: number): Promise<ServerResponse> => {
    while (held.length < count) await later(1);
    return held[count - 1] as ServerResponse;
  };
  return { listening, call, received, agent };
};

const acceptsConnections = ({ port }: Listening): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

test('a port in use is reported with its number and the variable that changes it', async () => {
  const { listening } = await holding();
  const { port } = listening;
  const second = listen(() => {}, { host: '127.0.0.1', port, variable: 'THINGS_PORT' });
  await expect(second).rejects.toThrow(`Port ${port} is taken; set THINGS_PORT to a free one.`);
  await expect(second).rejects.toBeInstanceOf(PortInUseError);
  await listening.stop();
});

test('other listen errors are not reported as a port in use', async () => {
  const elsewhere = { ...place, host: '203.0.113.1' };
  await expect(listen(() => {}, elsewhere)).rejects.not.toBeInstanceOf(PortInUseError);
});

test('stopping waits for running requests only and accepts no new ones', async () => {
  const { listening, call, received } = await holding();
  const running = call();
  const response = await received(1);
  const started = performance.now();
  const stopped = listening.stop(60_000);
  while (await acceptsConnections(listening));
  response.end('done');
  expect((await running).text).toBe('done');
  await stopped;
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('a server whose stop is announced serves all connections as before', async () => {
  const { listening, call, received } = await holding();
  listening.announceStop();
  const asked = call();
  (await received(1)).end('done');
  expect(await asked).toEqual({ text: 'done', connection: 'keep-alive' });
  await listening.stop();
});

test('a server that stops serves the connections that it has, and soon ends them with a response', async () => {
  const { listening, call, received, agent } = await holding();
  const ask = async (count: number) => {
    const asked = call();
    (await received(count)).end('done');
    return asked;
  };
  await ask(1);
  const stopped = listening.stop(60_000, 60_000);
  while (await acceptsConnections(listening));
  let count = 1;
  let connection: string | undefined;
  do {
    count += 1;
    ({ connection } = await ask(count));
  } while (connection === 'keep-alive');
  expect(connection).toBe('close');
  await stopped;
  agent.destroy();
});

test('connections that have not been accepted when a server stops are served', async () => {
  const listening = await listen((_req, res) => void res.end('served'), place);
  const asked = Array.from({ length: 20 }, () =>
    once(get(listening.url, { agent: false }), 'response'),
  );
  // The operating system has accepted them, and this process none.
  await Promise.all([listening.stop(), ...asked]);
});

test('stopping does not wait for idle keep-alive connections', async () => {
  const { listening, call, received } = await holding();
  const running = call();
  (await received(1)).end('done');
  expect((await running).connection).toBe('keep-alive');
  const started = performance.now();
  await listening.stop(60_000);
  expect(performance.now() - started).toBeLessThan(30_000);
});

test('stopping closes connections that do not end in time', async () => {
  const { listening, call, received } = await holding();
  const running = call();
  const cut = expect(running).rejects.toThrow('socket hang up');
  await received(1);
  await listening.stop(20);
  await cut;
});

test('stopping twice is allowed', async () => {
  const { listening } = await holding();
  await Promise.all([listening.stop(), listening.stop()]);
});

test('no check of the pace is left of a request that was answered before its body had been read, once its connection has ended', async () => {
  const [set, clear] = [
    jest.spyOn(globalThis, 'setInterval'),
    jest.spyOn(globalThis, 'clearInterval'),
  ];
  const listening = await listen(
    (req, res) => {
      req.once('data', () => {
        req.pause();
        res.writeHead(413, { connection: 'close' }).end();
      });
    },
    { ...place, headersTimeoutMs: 12_200 },
  );
  const sent = request(listening.url, { method: 'POST' });
  sent.on('error', () => {});
  sent.end(Buffer.alloc(1_000_000));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(413);
  const check = set.mock.calls.findIndex(([, delay]) => delay === 12_200 / 4);
  const timer = set.mock.results[check]?.value;
  expect(timer).toBeDefined();
  sent.destroy();
  while (!clear.mock.calls.some(([cleared]) => cleared === timer)) await later(1);
  await listening.stop();
});

test('requests and responses of an Express application have its prototypes from the start', async () => {
  const app = express();
  const isBorn = (one: object): boolean => Object.getPrototypeOf(one) === one.constructor.prototype;
  app.get('/', (req, res) => void res.json({ ip: req.ip, isBorn: [isBorn(req), isBorn(res)] }));
  const listening = await listen(app, place);
  const answer = await fetch(listening.url);
  expect(await answer.json()).toEqual({ ip: '127.0.0.1', isBorn: [true, true] });
  await listening.stop();
});
