import { type RedisServer, startRedis } from '@tessera/local-stack';
import { Redis } from 'ioredis';
import { redisPositions, type WritePositions } from './write-positions.ts';

let redis: RedisServer;
const opened: Redis[] = [];
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const connection of opened) connection.disconnect();
  await redis.stop();
});

const open = (): WritePositions => {
  const connection = new Redis(redis.url, { maxRetriesPerRequest: 0 });
  connection.on('error', () => {}); // The command reports it.
  opened.push(connection);
  return redisPositions(connection, 'test:');
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
