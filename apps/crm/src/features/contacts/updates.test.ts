import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { contact } from './contacts.kind.ts';

const { database, close } = await openDatabase();
afterAll(close);

test('Records that are updated together get what each of them changes, with its history', async () => {
  const caller = callerIn();
  const records = createRecords(contact, database);
  const input = { tags: [], emails: [], phones: [], addresses: [] };
  const [ada, bob] = await Promise.all(
    ['Ada', 'Bob'].map((first_name) => records.create(caller, { ...input, first_name })),
  );
  const [first, second] = [ada?.id ?? '', bob?.id ?? ''];
  await records.updateMany(caller, [
    { id: first, change: { title: 'CEO' } },
    { id: second, change: { phone: '1', tags: ['vip'] } },
  ]);
  const shown = async (id: string) => (await records.get(caller, id)).answer;
  expect(await shown(first)).toMatchObject({
    first_name: 'Ada',
    title: 'CEO',
    phone: null,
    tags: [],
  });
  expect(await shown(second)).toMatchObject({
    first_name: 'Bob',
    title: null,
    phone: '1',
    tags: ['vip'],
  });
  const { rows } = await records.history(caller, second);
  expect(rows[0]).toMatchObject({
    action: 'update',
    version: 2,
    changes: { phone: { from: null, to: '1' }, tags: { from: [], to: ['vip'] } },
  });
  const missing = records.updateMany(caller, [
    { id: first, change: { title: 'CTO' } },
    { id: crypto.randomUUID(), change: { title: 'CFO' } },
  ]);
  await expect(missing).rejects.toMatchObject({ status: 404 });
  expect((await shown(first)).title).toBe('CEO');
});

test('Of records that are updated together, those that have the values already stay as they are', async () => {
  const caller = callerIn();
  const records = createRecords(contact, database);
  const given = {
    tags: ['vip'],
    emails: [{ label: 'home', email: 'ada@example.com' }],
    phones: [],
    addresses: [],
    title: 'CEO',
  };
  const create = (first_name: string) => records.create(caller, { ...given, first_name });
  const [same, other] = [await create('Ada'), await create('Bob')];
  const emails = [{ email: 'ada@example.com', label: 'home' }];
  const changed = await records.updateMany(caller, [
    { id: same.id, change: { tags: ['vip'], emails, title: 'CEO' } },
    { id: other.id, change: { tags: [], title: 'CEO' } },
  ]);
  expect(changed).toEqual([other.id]);
  const versions = [same, other].map(async ({ id }) => (await records.get(caller, id)).version);
  expect(await Promise.all(versions)).toEqual([1, 2]);
  expect((await records.history(caller, same.id)).rows).toHaveLength(1);
});
