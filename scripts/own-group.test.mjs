import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inOwnGroup } from './own-group.mjs';

const program = (...lines) => ['--input-type=module', '--eval', lines.join('\n')];

/** A program that starts a child, prints both ids and waits. */
const family = program(
  "import { spawn } from 'node:child_process';",
  "const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)']);",
  "process.on('SIGTERM', () => process.exit(0));",
  "console.log([process.pid, child.pid].join(' '));",
  'setInterval(() => {}, 1000);',
);

const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const untilGone = async (pids) => {
  while (pids.some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 20));
};

test('A program succeeds if its exit code is 0', async () => {
  const exit = (code) => inOwnGroup(process.execPath, program(`process.exit(${code})`));
  expect(await exit(0)).toBe(true);
  expect(await exit(3)).toBe(false);
  const fits = program('process.exit(process.env.GIVEN === "x" ? 0 : 1)');
  expect(await inOwnGroup(process.execPath, fits, { variables: { GIVEN: 'x' } })).toBe(true);
});

test('What a program sends arrives before its result', async () => {
  const messages = [];
  const sender = program(
    'process.send({ id: 1 });',
    'process.send({ id: 2 });',
    'process.disconnect();',
  );
  const isRight = await inOwnGroup(process.execPath, sender, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    onMessage: (message) => messages.push(message),
  });
  expect({ isRight, messages }).toEqual({ isRight: true, messages: [{ id: 1 }, { id: 2 }] });
});

test('A program that does not exist is an error', async () => {
  await expect(inOwnGroup('/nonexistent/program', [])).rejects.toThrow('ENOENT');
});

test('A program that kills its process group fails alone', async () => {
  expect(await inOwnGroup(process.execPath, program('process.kill(0, "SIGKILL")'))).toBe(false);
});

test('A signal ends the whole group, also what does not end with its program, and then the caller', async () => {
  const module = new URL('own-group.mjs', import.meta.url).href;
  const caller = spawn(
    process.execPath,
    program(
      `import { inOwnGroup } from ${JSON.stringify(module)};`,
      `await inOwnGroup(process.execPath, ${JSON.stringify(family)});`,
    ),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(caller, 'exit');
  const [line] = await once(createInterface(caller.stdout), 'line');
  const pids = line.split(' ').map(Number);
  expect(pids.map(isRunning)).toEqual([true, true]);
  caller.kill('SIGTERM');
  expect(await ended).toEqual([null, 'SIGTERM']);
  await untilGone(pids);
});

test('A signal ends all programs that run beside each other, and nothing is started after it', async () => {
  const module = new URL('own-group.mjs', import.meta.url).href;
  /** Says that it runs, and ends so long after a signal. */
  const ending = (milliseconds) =>
    program(
      `process.on('SIGINT', () => setTimeout(() => process.exit(0), ${milliseconds}));`,
      'console.log(process.pid);',
      'setInterval(() => {}, 1000);',
    );
  const caller = spawn(
    process.execPath,
    program(
      `import { inOwnGroup } from ${JSON.stringify(module)};`,
      'const lane = async (program) => {',
      '  for (let n = 0; n < 3; n += 1) {',
      "    console.log('started');",
      '    await inOwnGroup(process.execPath, program);',
      '  }',
      '};',
      `await Promise.all([lane(${JSON.stringify(ending(0))}), lane(${JSON.stringify(ending(1000))})]);`,
    ),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(caller, 'exit');
  const pids = [];
  let started = 0;
  const output = createInterface(caller.stdout).on('line', (line) => {
    if (line === 'started') started += 1;
    else pids.push(Number(line));
    if (line !== 'started' && pids.length === 2) caller.kill('SIGINT');
  });
  await once(output, 'close');
  expect(await ended).toEqual([null, 'SIGINT']);
  expect(started).toBe(2);
  await untilGone(pids);
});
