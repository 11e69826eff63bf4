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
