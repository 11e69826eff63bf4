import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { watchStatements } from '../../testing/watched-statements.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { customField } from './custom-fields.kind.ts';

const { database, close } = await openDatabase();
afterAll(close);

test('A page of contacts is read in one statement, and shows the values of declared fields in their order', async () => {
  const caller = callerIn();
  const fields = createRecords(customField, database);
  const declare = (key: string, position: number) =>
    fields.create(caller, {
      key,
      label: key,
      type: 'text',
      choices: [],
      is_filterable: false,
      is_required: false,
      position,
    });
  await declare('second', 2);
  await declare('first', 1);
  const forgotten = await declare('forgotten', 3);
  const { source, statements } = watchStatements(database);
  const contacts = createRecords(contact, source);
  const custom = { second: 'b', forgotten: 'c', first: 'a' };
  const nobody = { tags: [], emails: [], phones: [], addresses: [] };
  await contacts.create(caller, { ...nobody, first_name: 'Ada', custom });
  await fields.delete(caller, forgotten.id);
  statements.length = 0;
  const { rows } = await contacts.list(caller);
  expect(statements).toHaveLength(1);
  expect(rows.map((row) => Object.entries(row.custom ?? {}))).toEqual([
    [
      ['first', 'a'],
      ['second', 'b'],
    ],
  ]);
});
