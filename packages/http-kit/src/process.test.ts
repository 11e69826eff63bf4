import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const service = fileURLToPath(new URL('./testing/service.ts', import.meta.url));
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

/** Starts the test service; `waitForOutput` waits for a line of its output. */
const run = (behaviour: string) => {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', service, behaviour],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  started.push(child);
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(line));
  const ended = Promise.all([once(child, 'exit'), once(output, 'close')]).then(([[code]]) => ({
    code: code as number | null,
    lines,
  }));
  const waitForOutput = async (part: string): Promise<void> => {
    while (!lines.some((line) => line.includes(part))) await later(5);
  };
  return { child, waitForOutput, ended };
};

const LIMIT_MS = 60_000;

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s stops a service gracefully, and it exits with 0',
  async (signal) => {
    const { child, waitForOutput, ended } = run('stops in order');
    await waitForOutput('ready');
    child.kill(signal);
    const { code, lines } = await ended;
    expect(code).toBe(0);
    expect(lines.slice(-2)).toEqual([expect.stringContaining(signal), 'in order']);
  },
  LIMIT_MS,
);

test(
  'a Ctrl-C that arrives several times counts as one',
  async () => {
    const { child, waitForOutput, ended } = run('stops in order');
    await waitForOutput('ready');
    child.kill('SIGINT');
    child.kill('SIGTERM');
    child.kill('SIGINT');
    expect((await ended).code).toBe(0);
  },
  LIMIT_MS,
);

test(
  'a second Ctrl-C, later, ends a process that does not stop',
  async () => {
    const { child, waitForOutput, ended } = run('never stops');
    await waitForOutput('ready');
    child.kill('SIGINT');
    await waitForOutput('stopping');
    const patience = setInterval(() => child.kill('SIGINT'), 100);
    const { code } = await ended;
    clearInterval(patience);
    expect(code).toBe(1);
  },
  LIMIT_MS,
);

test(
  'a signal during the start ends the process immediately',
  async () => {
    const { child, waitForOutput, ended } = run('never starts');
    await waitForOutput('ready');
    child.kill('SIGTERM');
    expect((await ended).code).toBe(1);
  },
  LIMIT_MS,
);

test.each([
  ['does not start', 'Port 1 is taken; set THINGS_PORT to a free one.'],
  ['throws later', 'nobody caught this'],
  ['rejects later', 'nobody awaited this'],
])(
  'a service that %s exits with 1 and logs the reason',
  async (behaviour, message) => {
    const { code, lines } = await run(behaviour).ended;
    expect(code).toBe(1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 'fatal', msg: message });
  },
  LIMIT_MS,
);

test(
  'a service that fails to stop logs the reason',
  async () => {
    const { child, waitForOutput, ended } = run('fails to stop');
    await waitForOutput('ready');
    child.kill('SIGTERM');
    const { code, lines } = await ended;
    expect(code).toBe(1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ msg: 'the database is unavailable' });
  },
  LIMIT_MS,
);
