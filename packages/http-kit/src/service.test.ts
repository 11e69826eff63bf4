import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('./testing/workers.ts', import.meta.url));
let folder: string;
let started: ChildProcess | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tessera-workers-'));
});
afterEach(async () => {
  started?.kill('SIGKILL');
  await rm(folder, { recursive: true });
});

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly worker?: number;
  readonly pid?: number;
}

/** Starts the test service with two workers. */
const run = (environment: Record<string, string>) => {
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', program], {
    env: { ...process.env, APP_ENV: 'local', WORKERS: '2', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started = child;
  const lines: Line[] = [];
  const output = createInterface({ input: child.stdout });
  output.on('line', (line) => lines.push(JSON.parse(line) as Line));
  const ended = Promise.all([once(child, 'exit'), once(output, 'close')]).then(
    ([[code]]) => code as number | null,
  );
  return { lines, ended };
};

test('a worker that cannot be replaced ends the service in order, with its error', async () => {
  const refusal = join(folder, 'refusal');
  const { lines, ended } = run({ REFUSAL: refusal });
  while (!lines.some(({ msg }) => msg === 'crm is ready')) await later(5);
  await writeFile(refusal, '');
  // Each process writes its own lines: the worker's may come after that of the primary process.
  const pid = () =>
    lines.find(({ msg, worker }) => msg === 'the worker is ready' && worker === 2)?.pid;
  while (pid() === undefined) await later(5);
  process.kill(pid() as number, 'SIGKILL');
  expect(await ended).toBe(1);
  const fatal = lines.filter(({ level }) => level === 'fatal');
  expect(fatal).toHaveLength(6);
  for (const line of fatal.slice(0, 5)) {
    expect(line).toMatchObject({ worker: 2, msg: 'the dependencies are gone' });
  }
  expect(fatal[5]?.msg).toContain('Worker 2 could not be replaced');
  // The other worker was not cut off.
  expect(lines).toContainEqual(expect.objectContaining({ worker: 1, msg: 'stopping' }));
});

test('if the first worker cannot start, the service ends at once, with its error', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  try {
    const { lines, ended } = run({ PORT: `${port}` });
    expect(await ended).toBe(1);
    expect(lines.map(({ worker, msg }) => [worker, msg])).toEqual([
      [1, `Port ${port} is taken; set CRM_PORT to a free one.`],
      [undefined, 'The first worker ended with code 1 before it was ready.'],
    ]);
  } finally {
    taken.close();
  }
});
