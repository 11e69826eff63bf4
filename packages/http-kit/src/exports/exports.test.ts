import { Readable } from 'node:stream';
import { Exports } from './exports.ts';

async function* parts() {
  yield 1;
  yield 2;
}

test('an export over the limit of the caller is refused; other callers are counted separately', async () => {
  const exports = new Exports({ perCaller: 1, concurrentReads: 1 });
  const first = exports.counted('ann', parts());
  await first.next();
  await expect(exports.counted('ann', parts()).next()).rejects.toMatchObject({
    status: 429,
    code: 'rate_limited',
    headers: { 'Retry-After': '10' },
  });
  expect(await Readable.from(exports.counted('bob', parts())).toArray()).toEqual([1, 2]);
  await first.return(undefined);
  expect(await Readable.from(exports.counted('ann', parts())).toArray()).toEqual([1, 2]);
});

test('the number of batches read at once is limited, and a tenant leaves one to the next', async () => {
  const exports = new Exports({ perCaller: 9, concurrentReads: 2 });
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const read = (key: string) =>
    exports.read(key, async () => {
      begun.push(key);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const reads = ['noisy', 'noisy', 'noisy', 'quiet', 'third'].map(read);
  const settled = () => new Promise(setImmediate);
  await settled();
  expect(begun).toEqual(['noisy', 'quiet']);
  for (let count = 0; count < reads.length; count += 1) {
    ends.shift()?.();
    await settled();
    expect(ends.length).toBeLessThanOrEqual(2);
  }
  await Promise.all(reads);
  expect(begun.slice(2)).toEqual(['noisy', 'third', 'noisy']);
});
