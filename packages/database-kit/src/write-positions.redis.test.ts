import { type RedisServer, startRedis } from '@tessera/local-stack';
import { redisPositions, type WritePositions } from './write-positions.ts';

let redis: RedisServer;
const opened: WritePositions[] = [];
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await Promise.all(opened.map((positions) => positions.stop()));
  await redis.stop();
});

const open = (): WritePositions => {
  const positions = redisPositions({ url: redis.url, timeoutMs: 2000, prefix: 'test:' });
  opened.push(positions);
  return positions;
};

test('A position recorded by one replica of the service is known to the others and only grows', async () => {
  const [one, two] = [open(), open()];
  expect(await two.get('a')).toBeUndefined();
  await one.note('a', 0xffn);
  expect(await two.get('a')).toBe(0xffn);
  await two.note('a', 0x1_0000_0000n);
  await one.note('a', 0xfffn);
  expect(await one.get('a')).toBe(0x1_0000_0000n);
  expect(await one.get('b')).toBeUndefined();
});

test('While Redis is unavailable, no position is known', async () => {
  const positions = open();
  await redis.kill();
  await expect(positions.get('a')).rejects.toThrow();
  await expect(positions.note('a', 1n)).rejects.toThrow();
});
