import { planOf } from './people.ts';

const first = (people: Iterable<object>, count: number): object[] => {
  const found: object[] = [];
  for (const user of people) {
    found.push(user);
    if (found.length === count) break;
  }
  return found;
};

test('The users of a tenant are made one by one, however many they are, and each time the same', () => {
  const { people, size } = planOf(0, {
    tenants: 1,
    users: 100_000_000,
    smallTenants: 0,
    seed: 1,
    now: new Date('2026-01-01T00:00:00Z'),
  });
  expect(size).toBe(100_000_000);
  const users = first(people(), 50);
  expect(users[0]).toMatchObject({ role: 'owner' });
  expect(new Set(users.map((user) => JSON.stringify(user))).size).toBe(50);
  expect(first(people(), 50)).toEqual(users);
});
