import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

let directory: string;
let log: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'tessera-kept-'));
  log = path.join(directory, 'log');
});
afterEach(() => rm(directory, { recursive: true }));

/** Runs a script and waits for what it prints first. */
async function keep(script: string, remove?: string): Promise<SupervisedProcess> {
  const output = await open(log, 'w');
  const kept = superviseProcess({
    command: process.execPath,
    args: ['--eval', script],
    signal: 'SIGTERM',
    remove,
    output: output.fd,
  });
  await output.close();
  while ((await readFile(log, 'utf8')) === '') await delay(5);
  return kept;
}

test('A command is ended by its signal, and its exit code is known', async () => {
  const kept = await keep(`
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await kept.stop();
  expect(await kept.exited).toBe(7);
});

test('A command that ends by itself is noticed', async () => {
  const kept = await keep(`console.log('ready'); process.exitCode = 3`);
  expect(await kept.exited).toBe(3);
  await kept.stop();
});

test('A command that ignores its signal is ended all the same', async () => {
  const kept = await keep(`
    process.on('SIGTERM', () => console.log('no'));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await kept.stop();
  expect(await readFile(log, 'utf8')).toBe('ready\nno\n');
});

test('A command that cannot be started says so', async () => {
  const output = await open(log, 'w');
  const kept = superviseProcess({
    command: '/no/such',
    args: [],
    signal: 'SIGTERM',
    output: output.fd,
  });
  expect(await kept.exited).toBe(127);
  await output.close();
  expect(await readFile(log, 'utf8')).toContain('/no/such');
});
