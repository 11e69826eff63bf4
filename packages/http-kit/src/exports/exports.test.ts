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

test('the number of batches read at once is limited', async () => {
  const exports = new Exports({ perCaller: 9, concurrentReads: 2 });
  let reading = 0;
  let most = 0;
  const read = async () => {
    reading += 1;
    most = Math.max(most, reading);
    await new Promise(setImmediate);
    reading -= 1;
  };
  await Promise.all(Array.from({ length: 6 }, () => exports.read(read)));
  expect(most).toBe(2);
});
