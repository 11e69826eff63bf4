import { randomUUID } from 'node:crypto';
import { nullable, type Out, optional, shape, text, uuid } from '@tessera/fields';
import { HttpError, invalidField } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import { callerIn, clientIn, openDatabase } from '../testing/records.ts';
import { declareRecord } from './declaration.ts';
import { equals } from './filters.ts';
import type { Row } from './model.ts';
import { createRecords } from './records.ts';

const Person = shape({ id: uuid(), first_name: text(10), owner_id: nullable(uuid()) });

/** Contacts again, by another declaration. */
const person = {
  model: 'Contact',
  table: 'contacts',
  permissions: 'contacts',
  name: 'person',
  answer: Person,
  present: (row: Row<'Contact'>): Out<typeof Person> => ({
    id: row.id,
    first_name: row.firstName,
    owner_id: row.ownerId,
  }),
  sort: { name: 'sortName' },
  defaultSort: 'name',
  filters: {},
  search: false,
} as const;
const input = shape({ first_name: text(10), title: optional(nullable(text(10))) });

test('What fields and columns disagree on does not compile', () => {
  declareRecord({ ...person, input });
  const { present: _, ...rest } = person;
  declareRecord({ ...rest, input });
  const refused = [
    // @ts-expect-error a field without a column
    declareRecord({ ...person, input: shape({ first_name: text(9), nmae: text(9) }) }),
    // @ts-expect-error a value that the column does not take
    declareRecord({ ...person, input: shape({ first_name: nullable(text(9)) }) }),
    // @ts-expect-error a column that must be given and is not
    declareRecord({ ...person, input: shape({ title: text(9) }) }),
    // @ts-expect-error a column that callers do not set
    declareRecord({ ...person, input: shape({ first_name: text(9), tenant_id: uuid() }) }),
    // @ts-expect-error an order by no column
    declareRecord({ ...person, input, sort: { name: 'nmae' } }),
    // @ts-expect-error a default that is no order
    declareRecord({ ...person, input, defaultSort: 'title' }),
    // @ts-expect-error a filter by no column
    declareRecord({ ...person, input, filters: { x: equals('nmae', uuid()) } }),
    // @ts-expect-error permissions that do not exist
    declareRecord({ ...person, input, permissions: 'people' }),
    // @ts-expect-error a table that does not hold records
    declareRecord({ ...person, input, model: 'RecordCount' }),
    // @ts-expect-error an answer that is not complete
    declareRecord({ ...person, input, present: (row: { id: string }) => ({ id: row.id }) }),
    // @ts-expect-error an answer with a field that no column has, and nobody says how it is made
    declareRecord({ ...rest, input, answer: shape({ id: uuid(), nmae: text(9) }) }),
    // @ts-expect-error an answer with a field that does not tell what the column may hold
    declareRecord({ ...rest, input, answer: shape({ id: uuid(), last_name: text(9) }) }),
  ];
  expect(refused).toHaveLength(12);
});

describe('A kind of record', () => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    opened = await openDatabase();
  });
  afterAll(() => opened.close());

  test('can be limited to what a caller may reach', async () => {
    const own = declareRecord({
      ...person,
      input,
      reach: (caller) => (caller.can('contacts.delete') ? { ownerId: requireUser(caller) } : {}),
      prepare: (_, { caller, id }) => (id === undefined ? { ownerId: requireUser(caller) } : {}),
    });
    const records = createRecords(own, opened.database);
    const ada = callerIn();
    const bob = callerIn(ada.tenantId);
    const everyone = { ...callerIn(ada.tenantId), can: () => false };
    const { id } = await records.create(ada, { first_name: 'Ada' });
    await records.create(bob, { first_name: 'Bob' });

    expect((await records.list(bob)).rows).toMatchObject([{ first_name: 'Bob' }]);
    expect((await records.list(bob)).total).toBe(1);
    expect(await records.list(everyone)).toMatchObject({ total: 2 });
    for (const call of [
      records.show(bob, id),
      records.change(bob, id, { first_name: 'X' }),
      records.remove(bob, id),
      records.restore(bob, id),
    ]) {
      await expect(call).rejects.toMatchObject({ status: 404 });
    }
    await records.change(ada, id, { first_name: 'Ada L.' });
    const changed = await records.show(everyone, id);
    expect(changed.answer).toEqual({ id, first_name: 'Ada L.', owner_id: ada.userUuid });
  });

  test('that is limited to users refuses a client, and never asks the database for it', async () => {
    const own = declareRecord({
      ...person,
      input,
      reach: (caller) => ({ ownerId: requireUser(caller) }),
      prepare: (_, { caller }) => ({ ownerId: requireUser(caller) }),
    });
    const records = createRecords(own, opened.database);
    const client = clientIn();
    const id = randomUUID();
    for (const call of [
      () => records.list(client),
      () => records.show(client, id),
      () => records.create(client, { first_name: 'Ada' }),
      () => records.change(client, id, { first_name: 'X' }),
      () => records.remove(client, id),
      () => records.restore(client, id),
    ]) {
      await expect(async () => call()).rejects.toMatchObject({
        status: 403,
        code: 'user_required',
      });
    }
  });

  test('can refuse by rules of its own, and ask the database of the same transaction', async () => {
    const unique = declareRecord({
      ...person,
      input,
      async prepare({ first_name }, { db, caller: { tenantId } }) {
        const twice = { where: { tenantId, firstName: first_name ?? '' } };
        if (await db.tables.contact.count(twice))
          throw invalidField('first_name', 'first_name is taken');
        return {};
      },
    });
    const caller = callerIn();
    const twice = opened.database.transaction(async (transaction) => {
      const records = createRecords(unique, transaction);
      await records.create(caller, { first_name: 'Ada' });
      await records.create(caller, { first_name: 'Ada' });
    });
    await expect(twice).rejects.toThrow(HttpError);
    expect(await createRecords(unique, opened.database).list(caller)).toMatchObject({ total: 0 });
  });
});
