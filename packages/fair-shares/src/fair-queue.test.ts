import { FairQueue, QueueFull } from './fair-queue.ts';

/** Work that ends when it is told to. */
const work = () => {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { run: () => ended, end: () => end() };
};
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('One key has at most half of the places that run and wait', async () => {
  const queue = new FairQueue({ concurrency: 4, waiting: 4 });
  const { run, end } = work();
  const noisy = Array.from({ length: 6 }, () => queue.run('noisy', run).catch((error) => error));
  await settled();
  expect([queue.running, queue.waiting, queue.countOf('noisy')]).toEqual([2, 2, 4]);
  expect(await noisy[4]).toBeInstanceOf(QueueFull);
  expect(queue.tryBegin('quiet')).toBeDefined();
  end();
  expect(await Promise.all(noisy.slice(0, 4))).toEqual(Array(4).fill(undefined));
});

test('Keys that wait take turns, whoever came first', async () => {
  const queue = new FairQueue({ concurrency: 1, waiting: 100 });
  const order: string[] = [];
  const begun = await queue.begin('noisy');
  const runs = ['noisy', 'noisy', 'noisy', 'quiet', 'other', 'quiet'].map((key) =>
    queue.run(key, async () => void order.push(key)),
  );
  await settled();
  begun();
  begun();
  await Promise.all(runs);
  expect(order).toEqual(['noisy', 'quiet', 'other', 'noisy', 'quiet', 'noisy']);
  expect([queue.running, queue.waiting]).toEqual([0, 0]);
});

test('A key that may have all runs alone, and another one follows as soon as a turn ends', async () => {
  const queue = new FairQueue({ concurrency: 2, portion: 'all', waiting: 10 });
  const first = await queue.begin('noisy');
  await queue.begin('noisy');
  const order: string[] = [];
  for (const key of ['noisy', 'noisy', 'quiet']) {
    void queue.begin(key).then((end) => {
      order.push(key);
      end();
    });
  }
  await settled();
  expect([queue.running, order]).toEqual([2, []]);
  first();
  await settled();
  expect(order).toEqual(['noisy', 'quiet', 'noisy']);
});

test('A turn of a key never overtakes those of the key that wait', async () => {
  const queue = new FairQueue({ concurrency: 2, waiting: 10 });
  const first = await queue.begin('a');
  const second = queue.begin('a');
  await settled();
  expect(queue.tryBegin('a')).toBeUndefined();
  first();
  (await second)();
});

test('Work that fails gives its turn to the next', async () => {
  const queue = new FairQueue({ concurrency: 1, waiting: 2 });
  const fail = () => Promise.reject(new Error('broken'));
  const failing = queue.run('a', fail);
  const next = queue.run('b', async () => 'done');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('done');
});

test('A turn that is aborted or comes too late leaves its place', async () => {
  const queue = new FairQueue({ concurrency: 1, waiting: 2, maxWaitMs: 20 });
  const end = await queue.begin('a');
  const controller = new AbortController();
  const aborted = queue.begin('b', controller.signal);
  controller.abort(new Error('gone'));
  await expect(aborted).rejects.toThrow('gone');
  await expect(queue.begin('c')).rejects.toThrow(QueueFull);
  await expect(queue.begin('d', controller.signal)).rejects.toThrow('gone');
  expect(queue.waiting).toBe(0);
  end();
  expect(queue.running).toBe(0);
});
