import { migrate } from '@tessera/database-kit';
import { freshDatabase } from '@tessera/local-stack';
import pg from 'pg';
import { migrations } from '../database.ts';
import { contact } from '../features/contacts/contacts.kind.ts';
import { callerIn, openDatabase } from '../testing/records.ts';
import { createRecords } from './records.ts';

/** Runs a statement in a new database, then migrates it. */
const migratedAfter = async (statement: string): Promise<string> => {
  const { url } = await freshDatabase('bare', async () => {});
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(statement);
  await admin.end();
  await migrate(url, migrations);
  return url;
};

/** Makes the server reject these extensions, as hosted servers do. */
const refusing = (...extensions: string[]): string => `
  CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands()
               WHERE object_identity = ANY ('{${extensions.join()}}')) THEN
      RAISE insufficient_privilege USING MESSAGE = 'not on this server';
    END IF;
  END $$;
  CREATE EVENT TRIGGER refuse ON ddl_command_end WHEN TAG IN ('CREATE EXTENSION')
    EXECUTE FUNCTION refuse()`;

/** The results of searches among three contacts, and the columns of the search index. */
const searches = async (url: string, ...terms: string[]) => {
  const { pool, database, close } = await openDatabase(url);
  const contacts = createRecords(contact, database);
  const caller = callerIn();
  const nobody = { tags: [], emails: [], phones: [], addresses: [] };
  for (const first_name of ['Árpád', 'arpad', 'Zoë']) {
    await contacts.create(caller, { ...nobody, first_name });
  }
  const found: string[][] = [];
  for (const search of terms) {
    const { rows } = await contacts.list(caller, { search, sort: 'created_at' });
    found.push(rows.map((row) => row.first_name));
  }
  const { rows } = await pool.query(
    `SELECT string_agg(attname, ' ' ORDER BY attnum) AS columns FROM pg_attribute
     WHERE attrelid = 'tenant_crm.contacts_search'::regclass`,
  );
  await close();
  return { found, index: rows[0].columns };
};

const accented = [['Árpád', 'arpad'], ['Zoë'], ['Zoë'], []];
const plain = [['arpad'], ['Zoë'], [], []];
const terms = ['ARPA', 'zo', 'OE', 'q'];

test.each([
  ['unaccent', plain, 'tenant_id search_text search_pieces tags custom'],
  ['pg_trgm', accented, 'tenant_id search_pieces tags custom'],
  ['btree_gin', accented, 'search_text search_pieces tags custom'],
  ['unaccent,pg_trgm,btree_gin', plain, 'search_pieces tags custom'],
])('Where %s cannot be had, searches find what they can', async (refused, found, index) => {
  const url = await migratedAfter(refusing(refused));
  expect(await searches(url, ...terms)).toEqual({ found, index });
});

test('Extensions that are there already are used where they are', async () => {
  const url = await migratedAfter(`
    CREATE SCHEMA elsewhere;
    CREATE EXTENSION unaccent SCHEMA elsewhere;
    CREATE EXTENSION pg_trgm SCHEMA elsewhere;
    CREATE EXTENSION btree_gin SCHEMA elsewhere`);
  const index = 'tenant_id search_text search_pieces tags custom';
  expect(await searches(url, ...terms)).toEqual({ found: accented, index });
});

test('Where unaccent cannot be had, searches still ignore every case', async () => {
  const url = await migratedAfter(refusing('unaccent'));
  const { pool, close } = await openDatabase(url);
  const { rows } = await pool.query(
    'SELECT tenant_crm.search_key(one) = tenant_crm.search_key(other) AS same FROM unnest($1::text[], $2::text[]) AS pair(one, other)',
    [
      ['ΓΙΏΡΓΟΣ', 'STRASSE', 'straẞe', 'ſ', '\u212a', 'Ǆ', 'Þ', 'ԵՒ', 'Á'],
      ['γιώργος', 'straße', 'Strasse', 'S', 'k', 'ǅ', 'þ', 'և', 'a'],
    ],
  );
  expect(rows.map(({ same }) => same)).toEqual([...Array(8).fill(true), false]);
  await close();
});
