import { randomUUID } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import { createRecords } from '../../records/records.ts';
import { shown } from '../../records/viewing.ts';
import { callerIn, openDatabase, withMethods } from '../../testing/records.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from './contacts.kind.ts';

const { database, close } = await openDatabase();
const contacts = createRecords(contact, database);
afterAll(close);

const ada = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.com',
  title: 'Countess',
  tags: ['vip'],
  emails: [{ label: 'home', email: 'ada@home.example' }],
  phones: [],
  addresses: [],
};

/** The status of the error that a call throws. */
const refusal = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (result) => result,
    (error) => (error instanceof HttpError ? error.status : error),
  );

describe('A change', () => {
  test('changes only the given fields, and null clears a field', async () => {
    const caller = callerIn();
    const before = await contacts.create(caller, ada);
    const changed = await contacts.update(caller, before.id, { title: 'Lady', email: null });
    const after = shown(changed);
    const { updated_at } = after.answer;
    expect(after).toEqual({
      id: before.id,
      version: 2,
      answer: { ...before.answer, title: 'Lady', email: null, updated_at },
    });
    expect(+updated_at).toBeGreaterThanOrEqual(+before.answer.updated_at);
    expect(await contacts.get(caller, before.id)).toEqual(after);
  });

  test('succeeds for only one of several concurrent requests with the same If-Match', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, ada);
    const titles = Array.from({ length: 12 }, (_, i) => `Title ${i}`);
    const outcomes = await Promise.all(
      titles.map((title) => refusal(contacts.update(caller, id, { title }, [1]))),
    );
    const won = outcomes.filter((outcome) => outcome !== 412);
    expect(won).toHaveLength(1);
    expect(won[0]).toEqual(await contacts.get(caller, id));
  });

  test('without If-Match is never lost', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, ada);
    const changes = [{ title: 'A' }, { phone: '1' }, { notes: 'N' }, { last_name: null }];
    await Promise.all(changes.map((change) => contacts.update(caller, id, change)));
    const { version, answer } = await contacts.get(caller, id);
    expect(version).toBe(5);
    expect(answer).toMatchObject({ title: 'A', phone: '1', notes: 'N', last_name: null });
  });

  test('is rolled back with its transaction', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, ada);
    const failing = database.forTenant(caller.tenantId).transaction(async (transaction) => {
      const within = createRecords(contact, { forTenant: () => transaction });
      await within.update(caller, id, { title: 'Lost' });
      await within.create(caller, ada);
      expect((await within.list(caller, { page: 9 })).total).toBe(2);
      throw new Error('later');
    });
    await expect(failing).rejects.toThrow('later');
    expect((await contacts.get(caller, id)).answer.title).toBe('Countess');
    expect((await contacts.list(caller)).total).toBe(1);
  });
});

describe('A deleted contact', () => {
  test('is not found by any method except restore, which restores it unchanged', async () => {
    const caller = callerIn();
    const created = await contacts.create(caller, ada);
    const { id } = created;
    await contacts.delete(caller, id);
    expect(await refusal(contacts.get(caller, id))).toBe(404);
    expect(await refusal(contacts.update(caller, id, { title: 'X' }))).toBe(404);
    expect(await refusal(contacts.delete(caller, id))).toBe(404);
    expect(await contacts.list(caller)).toMatchObject({ rows: [], total: 0 });
    const restored = shown(await contacts.restore(caller, id));
    const { updated_at } = restored.answer;
    expect(restored.answer).toEqual({ ...created.answer, updated_at });
    expect(await contacts.list(caller)).toMatchObject({ rows: [{ id }], total: 1 });
  });

  test('gets a new version when it is deleted and restored', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, ada);
    expect(await refusal(contacts.delete(caller, id, [2, 3]))).toBe(412);
    await contacts.delete(caller, id, [1]);
    expect(await refusal(contacts.restore(caller, id, [1]))).toBe(412);
    expect((await contacts.restore(caller, id, [2])).version).toBe(3);
    expect(await refusal(contacts.restore(caller, id, [2]))).toBe(412);
    expect((await contacts.restore(caller, id, [3])).version).toBe(3);
  });

  test('that is deleted while a restore waits for it is restored', async () => {
    const caller = callerIn();
    // Contacts have rules, for which the row is locked.
    const companies = createRecords(company, database);
    const { id } = await companies.create(caller, { name: 'Engines', addresses: [], tags: [] });
    let isGone = false;
    const meanwhile = createRecords(company, {
      forTenant(tenantId) {
        const db = database.forTenant(tenantId);
        return withMethods(db, {
          async query(statement, options) {
            if (!isGone && statement.text.startsWith('SELECT')) {
              await companies.delete(caller, id);
              isGone = true;
            }
            return db.query(statement, options);
          },
        });
      },
    });
    expect((await meanwhile.restore(caller, id)).version).toBe(3);
    expect(isGone).toBe(true);
  });

  test('can be restored by concurrent requests', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, ada);
    await contacts.delete(caller, id);
    const restored = await Promise.all(
      Array.from({ length: 6 }, () => contacts.restore(caller, id)),
    );
    expect(new Set(restored.map(({ version }) => version))).toEqual(new Set([3]));
  });
});

test('Contacts of another tenant and unknown contacts are not found', async () => {
  const [owner, stranger] = [callerIn(), callerIn()];
  const live = await contacts.create(owner, ada);
  const deleted = await contacts.create(owner, ada);
  await contacts.delete(owner, deleted.id);
  for (const id of [live.id, deleted.id, randomUUID()]) {
    expect(await refusal(contacts.get(stranger, id))).toBe(404);
    expect(await refusal(contacts.update(stranger, id, { title: 'Mine' }))).toBe(404);
    expect(await refusal(contacts.update(stranger, id, { title: 'Mine' }, [1]))).toBe(404);
    expect(await refusal(contacts.delete(stranger, id))).toBe(404);
    expect(await refusal(contacts.restore(stranger, id))).toBe(404);
  }
  for (const query of [{}, { search: 'ada' }, { search: 'a' }, { tag: 'vip' }, { page: 99 }]) {
    expect(await contacts.list(stranger, query)).toMatchObject({ rows: [], total: 0 });
  }
  expect(await contacts.get(owner, live.id)).toEqual(live);
  expect((await contacts.list(owner)).total).toBe(1);
});
