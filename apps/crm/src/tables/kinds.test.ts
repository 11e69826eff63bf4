import type { Caller } from '../http.ts';
import { attachment } from '../records/fixture/attachments.kind.ts';
import { board } from '../records/fixture/boards.kind.ts';
import { member } from '../records/fixture/members.kind.ts';
import { note } from '../records/fixture/notes.kind.ts';
import { createFixtureTables } from '../records/fixture/tables.ts';
import type { Kind } from '../records/kind.ts';
import { listQuery } from '../records/list-query.ts';
import { brokenTableRules } from '../testing/catalogue.ts';
import { crmDatabase } from '../testing/crm.ts';
import { declaredKinds } from '../testing/declared-kinds.ts';
import { missingInDatabase, type ScopeColumns } from '../testing/kind-tables.ts';
import { callerIn, openDatabase } from '../testing/records.ts';

/** The caller, with no permission. */
const callerWithout = (caller: Caller): Caller =>
  new Proxy(caller, {
    get: (target, name) => (name === 'can' ? () => false : Reflect.get(target, name, target)),
  });

/** The columns that scopes limit lists to, for a caller with every permission and for one with none. */
const scopesOf = (kind: Kind): ScopeColumns => {
  const entitled = callerIn();
  const limited = callerWithout(entitled);
  return [entitled, limited].map((caller) => Object.keys(kind.scope?.(caller)?.columns ?? {}));
};

const url = await crmDatabase();
await createFixtureTables(url);
const { pool, close } = await openDatabase(url);
afterAll(close);

test('The database has what every declared kind of record needs', async () => {
  const kinds = await declaredKinds();
  expect(kinds.map(({ table }) => table)).toEqual(
    expect.arrayContaining(['companies', 'contacts', 'messaging_accounts']),
  );
  const missing: string[] = [];
  for (const kind of kinds) missing.push(...(await missingInDatabase(pool, kind, scopesOf(kind))));
  expect(missing).toEqual([]);
});

test('The description of sort names the keys by which records may have no value', async () => {
  const { rows } = await pool.query<{ column: string }>(
    `SELECT table_name || '.' || column_name AS column FROM information_schema.columns
     WHERE table_schema = 'tenant_crm' AND is_nullable = 'YES' AND is_generated = 'NEVER'`,
  );
  const nullable = new Set(rows.map(({ column }) => column));
  // Every record in a trash has been deleted at some time.
  const kinds = (await declaredKinds()).filter(({ listsDeleted }) => listsDeleted !== 'only');
  const wrong = kinds.filter((kind) => {
    const { description } = listQuery(kind).fields.sort?.json ?? {};
    const named = [...String(description).matchAll(/`([a-z_]+)`/g)].map(([, key]) => key);
    const keys = Object.entries(kind.sort).filter(([, column]) =>
      nullable.has(`${kind.table}.${column}`),
    );
    return String(named) !== String(keys.map(([key]) => key));
  });
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test('The fixture kinds have what they need, and follow the rules for tables', async () => {
  for (const kind of [board, member, note, attachment] as unknown as Kind[]) {
    expect(await missingInDatabase(pool, kind, scopesOf(kind))).toEqual([]);
  }
  expect(await brokenTableRules(pool)).toEqual([]);
});

describe('The check reports', () => {
  /** The findings after these statements, which are rolled back. */
  const found = async (kind: unknown, statements: readonly string[]): Promise<string[]> => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      for (const statement of statements) await client.query(statement);
      return await missingInDatabase(client as never, kind as Kind, scopesOf(kind as Kind));
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  };
  const drop = (index: string) => `DROP INDEX tenant_crm.${index}`;

  test.each([
    [
      'a column',
      board,
      ['ALTER TABLE tenant_crm.boards DROP COLUMN bytes CASCADE'],
      ['boards: there is no column bytes'],
    ],
    [
      'the type of a column',
      board,
      [
        'DROP VIEW tenant_rows.boards',
        'ALTER TABLE tenant_crm.boards ALTER labels DROP DEFAULT, ALTER labels TYPE text',
      ],
      ['boards: labels is text and must be jsonb'],
    ],
    [
      'the count of the tenant',
      board,
      ['DROP TRIGGER count_inserted ON tenant_crm.boards'],
      ['boards: there is no keep_count'],
    ],
    [
      'the count of a scope',
      board,
      ["SELECT tenant_crm.keep_count('tenant_crm.boards')"],
      ['boards: keep_count lacks owner_id'],
    ],
    [
      'a scope in the declaration',
      { ...board, countedBy: [] },
      [],
      ['boards: countedBy lacks owner_id, which lists are limited to'],
    ],
    [
      'the count below a parent',
      { ...member, counted: true },
      ["SELECT tenant_crm.keep_count('tenant_crm.board_members')"],
      ['board_members: keep_count lacks board_id'],
    ],
    [
      'the index of a sort',
      board,
      [drop('boards_by_name')],
      ['boards: there is no index (tenant_id, name, id)'],
    ],
    [
      'the index of a sort within a scope',
      board,
      [drop('boards_by_owner'), 'CREATE INDEX ON tenant_crm.boards (tenant_id, owner_id)'],
      ['boards: there is no index (tenant_id, owner_id, name, id)'],
    ],
    [
      'the end of the index of a sort',
      board,
      [drop('boards_by_name'), 'CREATE INDEX ON tenant_crm.boards (tenant_id, name)'],
      ['boards: there is no index (tenant_id, name, id)'],
    ],
    [
      'rows in the index of a sort',
      board,
      [
        drop('boards_by_name'),
        'CREATE INDEX ON tenant_crm.boards (tenant_id, name, id) WHERE bytes > 0',
      ],
      ['boards: there is no index (tenant_id, name, id)'],
    ],
    [
      'the index of a filter',
      { ...board, filters: { status: { column: 'status' } } },
      [],
      ['boards: no index finds rows by status'],
    ],
    [
      'the tenant in the index of a filter',
      { ...board, filters: { status: { column: 'status' } } },
      ['CREATE INDEX ON tenant_crm.boards (status)'],
      ['boards: no index finds rows by status'],
    ],
    [
      'the search index',
      { ...board, search: true },
      ['ALTER TABLE tenant_crm.boards ADD search_text text'],
      ['boards: there is no index_search'],
    ],
    [
      'the text to search',
      { ...board, search: true },
      [],
      ['boards: there is no column search_text'],
    ],
    [
      'the key',
      member,
      [drop('board_members_board_id_user_id_key')],
      ['board_members: there is no unique index (tenant_id, board_id, user_id)'],
    ],
    [
      'a foreign key',
      board,
      ['ALTER TABLE tenant_crm.boards DROP CONSTRAINT boards_company_id_fkey'],
      ['boards: company_id does not refer to companies'],
    ],
    [
      'the refusal of deleted targets',
      board,
      ['DROP TRIGGER boards_company_id ON tenant_crm.boards'],
      ['boards: company_id does not refer to companies'],
    ],
    [
      'the foreign key to the parent',
      member,
      ['ALTER TABLE tenant_crm.board_members DROP CONSTRAINT board_members_board_id_fkey'],
      ['board_members: board_id does not refer to boards'],
    ],
    [
      'a constraint that has a message',
      board,
      ['ALTER TABLE tenant_crm.boards DROP CONSTRAINT boards_last_day_excl'],
      ['boards: there is no constraint boards_last_day_excl'],
    ],
  ])('%s', async (_, kind, statements, missing) => {
    expect(await found(kind, statements)).toEqual(missing);
  });
});
