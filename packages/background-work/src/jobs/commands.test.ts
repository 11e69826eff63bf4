import { createCommandLine } from '@tessera/command-line';
import { numbered, startTestQueues, type TestQueues } from '../testing/queue.ts';
import { addJobCommands } from './commands.ts';
import { handleJob } from './job.ts';
import type { JobQueue } from './queue.ts';

const failing = numbered('failing', { retries: 0 });

let world: TestQueues;
beforeAll(async () => {
  world = await startTestQueues({ jobs: [failing] });
});
afterAll(() => world.stop());

test('An administrator sees dead jobs without their payload, retries one and deletes another', async () => {
  const seen: number[] = [];
  let isBroken = true;
  const queue = await world.replica([
    handleJob(failing, async ({ number }) => {
      if (isBroken) throw new Error('the server is unavailable');
      seen.push(number);
    }),
  ]);
  const printed: string[] = [];
  const jobs = async (...args: string[]): Promise<unknown> => {
    const { program, run } = createCommandLine<JobQueue>({
      name: 'test-admin',
      description: '',
      help: '',
      inSession: (work) => work(queue),
      print: (text) => void printed.push(text),
    });
    addJobCommands(program, run);
    await program.parseAsync(['--json', 'jobs', ...args], { from: 'user' });
    return JSON.parse(printed.at(-1) ?? '');
  };
  await world.transaction(async (tx) => {
    for (const number of [1, 2]) await queue.enqueue(tx, failing, { number, note: 'swordfish' });
  });
  await world.until(async () => (await queue.dead.list()).length === 2);
  const dead = (await jobs('dead')) as { id: string }[];
  expect(dead[0]).toMatchObject({
    job: 'failing',
    attempts: 1,
    error: 'the server is unavailable',
  });
  expect(printed.join()).not.toContain('swordfish');

  isBroken = false;
  const [retried, deleted] = dead.map(({ id }) => id);
  expect(await jobs('retry', 'failing', retried ?? '')).toEqual({ retried: 1 });
  expect(await jobs('delete', 'failing', deleted ?? '')).toEqual({ deleted: 1 });
  await world.until(() => seen.length === 1);
  expect(await jobs('dead', 'failing')).toEqual([]);
  await world.until(async () => (await queue.counts())[0]?.dead === 0);
  expect(await jobs('status')).toEqual([{ job: 'failing', waiting: 0, running: 0, dead: 0 }]);
  await expect(jobs('retry', 'falling')).rejects.toThrow('There is no job called "falling".');
  await queue.stop();
});
