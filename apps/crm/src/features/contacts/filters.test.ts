import { randomUUID } from 'node:crypto';
import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from './contacts.kind.ts';

const { pool, database, close } = await openDatabase();
const contacts = createRecords(contact, database);
const companies = createRecords(company, database);
afterAll(close);

const nobody = { first_name: 'A', emails: [], phones: [], addresses: [], tags: [] };

test('Names are sorted by last name, then first name, whatever their accents and case', async () => {
  const caller = callerIn();
  const people = [
    ['Zoé', 'Adams'],
    ['Bob', 'ádám'],
    ['Anna', 'Adam'],
    ['anna', 'Adam Smith'],
    ['Béla', null],
    ['Čeněk', 'Čapek'],
    ['Carl', 'cape'],
  ] as const;
  await Promise.all(
    people.map(([first_name, last_name]) =>
      contacts.create(caller, { ...nobody, first_name: first_name ?? '', last_name }),
    ),
  );
  const { rows } = await contacts.list(caller, { sort: 'name' });
  expect(rows.map((row) => [row.last_name, row.first_name].filter(Boolean).join(', '))).toEqual([
    'Adam, Anna',
    'ádám, Bob',
    'Adam Smith, anna',
    'Adams, Zoé',
    'Béla',
    'cape, Carl',
    'Čapek, Čeněk',
  ]);
});

test('Each filter narrows the list, and filters can be combined', async () => {
  const caller = callerIn();
  const { id: company_id } = await companies.create(caller, {
    name: 'Acme',
    tags: [],
    addresses: [],
  });
  const owner_id = randomUUID();
  const made = [
    await contacts.create(caller, { ...nobody, company_id, tags: ['vip', 'x'] }),
    await contacts.create(caller, { ...nobody, company_id, owner_id, email: 'a@b.c' }),
    await contacts.create(caller, {
      ...nobody,
      owner_id,
      tags: ['vip'],
      emails: [{ label: 'home', email: 'd@b.c' }],
    }),
  ];
  await pool.query(
    `UPDATE tenant_crm.contacts SET created_at = '2020-06-01Z', updated_at = '2021-06-01Z' WHERE id = $1`,
    [made[0]?.id],
  );
  const found = async (query: Parameters<typeof contacts.list>[1]) => {
    const { rows } = await contacts.list(caller, query);
    return made.flatMap(({ id }, i) => (rows.some((row) => row.id === id) ? [i] : []));
  };
  const day = (text: string) => new Date(`${text}T00:00:00Z`);
  expect(await found({ company_id })).toEqual([0, 1]);
  expect(await found({ owner_id })).toEqual([1, 2]);
  expect(await found({ company_id, owner_id })).toEqual([1]);
  expect(await found({ tag: 'vip' })).toEqual([0, 2]);
  expect(await found({ tag: 'vi' })).toEqual([]);
  expect(await found({ email: 'a@b.c' })).toEqual([1]);
  expect(await found({ email: 'd@b.c' })).toEqual([2]);
  expect(await found({ email: 'b@b.c' })).toEqual([]);
  expect(await found({ email: 'd@b.c', owner_id })).toEqual([2]);
  expect(await found({ created_from: day('2020-06-02') })).toEqual([1, 2]);
  expect(await found({ created_to: day('2020-06-01') })).toEqual([0]);
  expect(await found({ updated_from: day('2021-06-01'), updated_to: day('2021-06-02') })).toEqual([
    0,
  ]);
  expect(await found({ tag: 'vip', search: 'x', company_id })).toEqual([0]);
});
