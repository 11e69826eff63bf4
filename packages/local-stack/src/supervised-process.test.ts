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

/** Runs a script and waits for its first output. */
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

test('A command is stopped with its signal, and its exit code is reported', async () => {
  const kept = await keep(`
    process.on('SIGTERM', () => process.exit(7));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await kept.stop();
  expect(await kept.exited).toBe(7);
});

test('The end of a command is noticed', async () => {
  const kept = await keep(`console.log('ready'); process.exitCode = 3`);
  expect(await kept.exited).toBe(3);
  await kept.stop();
});

test('A command that ignores its signal is killed', async () => {
  const kept = await keep(`
    process.on('SIGTERM', () => console.log('no'));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  await kept.stop();
  expect(await readFile(log, 'utf8')).toBe('ready\nno\n');
});

test('A command that cannot be started is reported', async () => {
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
