import { availableParallelism } from 'node:os';
import { Registry } from 'prom-client';
import { signedIn } from './hashing-for.ts';
import { Passwords } from './passwords.ts';

const noCost = async () => 0;
const settings = { cost: 4, minLength: 12, brandName: 'Tessera' };

test('no account gets more than its share of the queue', async () => {
  const queueLimit = 40 - availableParallelism();
  const passwords = new Passwords({ ...settings, queueLimit }, noCost);
  const ofOne = Array.from({ length: 30 }, () =>
    passwords.hash('Correct-horse-7-battery', signedIn('one')).then(
      () => 'done',
      ({ code }) => code,
    ),
  );
  const others = Array.from({ length: 30 }, (_, i) =>
    passwords.hash('192837', signedIn(`other ${i}`)),
  );
  const outcomes = await Promise.all(ofOne);
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10);
  expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(20);
  await expect(Promise.all(others)).resolves.toHaveLength(30);
  await expect(passwords.hash('192837', signedIn('one'))).resolves.toMatch(/^\$2b\$/);
});

test('The metrics of the queue show what runs, waits, is refused and how long it took', async () => {
  const registry = new Registry();
  const queueLimit = 4;
  const cores = availableParallelism();
  const passwords = new Passwords({ ...settings, cost: 8, queueLimit }, noCost, registry);
  const sent = cores + queueLimit + 1;
  const hashes = Array.from({ length: sent }, (_, i) =>
    passwords.hash('192837', signedIn(`account ${i}`)),
  );
  const outcomes = Promise.allSettled(hashes);
  await new Promise((resolve) => setImmediate(resolve));
  const during = await registry.metrics();
  expect(during).toContain(`\npassword_hash_running ${cores}\n`);
  expect(during).toContain(`\npassword_hash_queue_length ${queueLimit}\n`);
  expect(during).toContain(`\npassword_hash_queue_limit ${queueLimit}\n`);
  expect(during).toContain('\npassword_hash_rejected_total 1\n');
  expect((await outcomes).filter(({ status }) => status === 'rejected')).toHaveLength(1);
  const after = await registry.metrics();
  expect(after).toContain('\npassword_hash_queue_length 0\n');
  expect(after).toContain(`\npassword_hash_wait_seconds_count ${sent - 1}\n`);
  expect(after).toContain(`\npassword_hash_duration_seconds_count ${sent - 1}\n`);
});
