import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Broker, type BrokerOptions, startBroker } from './broker.ts';
import { isReachable, otherAddresses } from './reach.ts';

const asyncapi = {
  asyncapi: '3.0.0',
  info: { title: 'test', version: '1' },
  channels: { moved: { address: 'ship.moved', messages: { moved: {} } } },
};
const brokers: Broker[] = [];
const parents: ChildProcess[] = [];

afterEach(async () => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
  await Promise.all(brokers.splice(0).map((broker) => broker.stop()));
});

async function start(options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const broker = await startBroker({ asyncapi, ...options });
  brokers.push(broker);
  return broker;
}

test('A broker has its own port and frees it when it is stopped', async () => {
  const [one, other] = await Promise.all([start(), start()]);
  expect(one.brokers).toEqual([`127.0.0.1:${one.port}`]);
  expect(other.port).not.toBe(one.port);
  expect(await isReachable(one.port)).toBe(true);
  await one.stop();
  await one.stop();
  expect(await isReachable(one.port)).toBe(false);
  expect(await isReachable(other.port)).toBe(true);
});

test('Only loopback leads to a broker, where the system can keep programs from the network', async () => {
  const { port, isLoopbackOnly } = await start();
  for (const address of otherAddresses()) {
    expect(await isReachable(port, address)).toBe(!isLoopbackOnly);
  }
});

test('A broker starts in a folder whose path has a space and a comma', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'tessera broker, '));
  try {
    const { port } = await start({ directory: path.join(parent, 'a b, c') });
    expect(await isReachable(port)).toBe(true);
  } finally {
    await Promise.all(brokers.splice(0).map((broker) => broker.stop()));
    await rm(parent, { recursive: true });
  }
});

test('A killed broker can be restarted on its port', async () => {
  const broker = await start();
  await broker.kill();
  expect(await isReachable(broker.port)).toBe(false);
  expect((await start({ port: broker.port })).brokers).toEqual(broker.brokers);
});

test('A port in use is reported, whichever process uses it', async () => {
  const { port } = await start();
  await expect(start({ port })).rejects.toThrow(`Port ${port} is taken by another broker`);

  const server = createServer((socket) => socket.on('data', () => socket.end('not Kafka at all')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const taken = typeof address === 'object' ? (address?.port ?? 0) : 0;
  await expect(start({ port: taken })).rejects.toThrow(`port ${taken}: `);
  server.close();
});

test('A broker leaves nothing in a temporary folder whose path is long', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'tessera-long-'));
  const folder = path.join(parent, 'a'.repeat(100));
  await mkdir(folder);
  const source = fileURLToPath(new URL('./broker.ts', import.meta.url));
  const script = `
    const { startBroker } = await import(${JSON.stringify(source)});
    const broker = await startBroker({ asyncapi: ${JSON.stringify(asyncapi)} });
    await broker.stop();`;
  try {
    const starting = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', script],
      { stdio: 'inherit', env: { ...process.env, TMPDIR: folder } },
    );
    expect(await once(starting, 'exit')).toEqual([0, null]);
    expect(await readdir(parent)).toEqual([path.basename(folder)]);
    const left = await readdir(folder);
    expect(left.filter((name) => name.startsWith('tessera'))).toEqual([]);
  } finally {
    await rm(parent, { recursive: true });
  }
});

test('A broker survives the Ctrl-C of its parent, and ends when that is killed', async () => {
  const source = fileURLToPath(new URL('./broker.ts', import.meta.url));
  const script = `
    process.on('SIGINT', () => console.log('interrupted'));
    setInterval(() => {}, 1000);
    const { startBroker } = await import(${JSON.stringify(source)});
    console.log((await startBroker({ asyncapi: ${JSON.stringify(asyncapi)} })).port);`;
  const parent = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', script],
    { detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  parents.push(parent);
  const lines = createInterface(parent.stdout);
  const port = Number(await once(lines, 'line'));

  // Like a terminal, which sends the signal to the whole process group.
  process.kill(-Number(parent.pid), 'SIGINT');
  expect(await once(lines, 'line')).toEqual(['interrupted']);
  expect(await isReachable(port)).toBe(true);

  parent.kill('SIGKILL');
  while (await isReachable(port)) await delay(5);
});
