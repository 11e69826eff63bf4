import { availableParallelism } from 'node:os';
import { Passwords } from './passwords.ts';

const settings = { cost: 4, minLength: 12, brandName: 'Tessera' };

test('no account gets more than its share of the queue', async () => {
  const queueLimit = 40 - availableParallelism();
  const passwords = new Passwords({ ...settings, queueLimit });
  const ofOne = Array.from({ length: 30 }, () =>
    passwords.hash('Correct-horse-7-battery', 'one').then(
      () => 'done',
      ({ code }) => code,
    ),
  );
  const others = Array.from({ length: 30 }, (_, i) => passwords.hash('192837', `other ${i}`));
  const outcomes = await Promise.all(ofOne);
  expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(10);
  expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(20);
  await expect(Promise.all(others)).resolves.toHaveLength(30);
  await expect(passwords.hash('192837', 'one')).resolves.toMatch(/^\$2b\$/);
});
