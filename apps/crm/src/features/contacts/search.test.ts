import fc from 'fast-check';
import { createRecords } from '../../records/records.ts';
import { callerIn, openDatabase } from '../../testing/records.ts';
import { contact } from './contacts.kind.ts';

const { pool, database, close } = await openDatabase();
const contacts = createRecords(contact, database);
afterAll(close);

type Input = Parameters<typeof contacts.create>[1];

const nobody = { tags: [], emails: [], phones: [], addresses: [] };

/** Creates a tenant with these contacts; returns a search that yields their first names, oldest first. */
const tenantWith = async (people: Partial<Input>[]) => {
  const caller = callerIn();
  for (const person of people) {
    await contacts.create(caller, { ...nobody, first_name: 'Nobody', ...person });
  }
  return async (search: string): Promise<string[]> => {
    const { rows, total } = await contacts.list(caller, { search, sort: 'created_at' });
    expect(total).toBe(rows.length);
    return rows.map((row) => row.first_name);
  };
};

describe('A search', () => {
  test('ignores accents in the text and in the term', async () => {
    const search = await tenantWith([
      { first_name: 'Árvíztűrő' },
      { first_name: 'Arvizturo' },
      { first_name: 'Łukasz' },
      { first_name: 'Weiß' },
      { first_name: 'A\u0301rvizturo' },
    ]);
    const accented = ['Árvíztűrő', 'Arvizturo', 'A\u0301rvizturo'];
    expect(await search('arvizturo')).toEqual(accented);
    expect(await search('ÁRVÍZTŰRŐ')).toEqual(accented);
    expect(await search('i\u0301zt')).toEqual(accented);
    expect(await search('lukasz')).toEqual(['Łukasz']);
    expect(await search('WEISS')).toEqual(['Weiß']);
    expect(await search('ß')).toEqual(['Weiß']);
  });

  test.each([
    ['Γιώργος', ['ΓΙΩΡΓΟΣ', 'γιωργος', 'γιωργοσ', 'ΡΓΟΣ', 'ος']],
    ['ΣΊΣΥΦΟΣ', ['Σίσυφος', 'σισυφοσ', 'ς']],
    ['Straße', ['STRASSE', 'STRAẞE', 'ſtraſſe']],
    ['İstanbul', ['istanbul', 'ISTANBUL', 'ıstanbul']],
    ['ﬁne ﬂag ﬆ', ['FINE', 'flag', 'ST']],
    ['Ǆungla', ['ǆungla', 'ǅUNGLA']],
    ['300 \u212a', ['300 k', '300 K']],
    ['\u212bngström', ['ångström', 'ÅNGSTRÖM', 'angstrom']],
    ['ᎠᎹᏰᏟ', ['ꭰꮉᏸꮯ']],
    ['ᲀᲂᲄ', ['ВОТ', 'вот']],
    ['Երևան', ['ԵՐԵՒԱՆ', 'երեւան']],
  ])('ignores the case of %s', async (first_name, searched) => {
    const search = await tenantWith([{ first_name }, {}]);
    for (const term of [
      ...searched,
      first_name,
      first_name.toLowerCase(),
      first_name.toUpperCase(),
    ]) {
      expect([term, await search(term)]).toEqual([term, [first_name]]);
    }
  });

  test('covers names, e-mail addresses, telephone numbers, title and tags, but not notes', async () => {
    const search = await tenantWith([
      { first_name: 'Ada', last_name: 'Lovelace' },
      { first_name: 'B', email: 'b@primary.example' },
      { first_name: 'C', emails: [{ label: 'home', email: 'c@second.example' }] },
      { first_name: 'D', phone: '+36 20 111 2222' },
      { first_name: 'E', phones: [{ label: 'desk', phone: '555-0199' }] },
      { first_name: 'F', title: 'Head of procurement' },
      { first_name: 'G', tags: ['newsletter', 'vip'] },
      { first_name: 'H', notes: 'Likes procurement' },
    ]);
    expect(await search('ada lovelace')).toEqual(['Ada']);
    expect(await search('b@primary')).toEqual(['B']);
    expect(await search('second.ex')).toEqual(['C']);
    expect(await search('111 22')).toEqual(['D']);
    expect(await search('0199')).toEqual(['E']);
    expect(await search('procure')).toEqual(['F']);
    expect(await search('vip')).toEqual(['G']);
    expect(await search('home')).toEqual([]);
  });

  test('treats %, _ and \\ as ordinary characters, full-width ones too', async () => {
    const search = await tenantWith([
      { first_name: '100%' },
      { first_name: '100 percent' },
      { first_name: 'snake_case' },
      { first_name: 'snakeXcase' },
      { first_name: 'back\\slash' },
    ]);
    expect(await search('100%')).toEqual(['100%']);
    expect(await search('%')).toEqual(['100%']);
    expect(await search('\uff05')).toEqual(['100%']);
    expect(await search('0%0')).toEqual([]);
    expect(await search('e_c')).toEqual(['snake_case']);
    expect(await search('_')).toEqual(['snake_case']);
    expect(await search('k\\s')).toEqual(['back\\slash']);
    expect(await search('\\')).toEqual(['back\\slash']);
    expect(await search('\\%')).toEqual([]);
  });

  test('ignores white space around the term, and a blank term finds everything', async () => {
    const search = await tenantWith([{ first_name: 'Ada' }, { first_name: 'Bob' }]);
    expect(await search('  ada ')).toEqual(['Ada']);
    expect(await search('   ')).toEqual(['Ada', 'Bob']);
  });

  test('finds changed contacts by their new values, and no deleted ones', async () => {
    const caller = callerIn();
    const { id } = await contacts.create(caller, { ...nobody, first_name: 'Before' });
    await contacts.update(caller, id, { first_name: 'After' });
    const hits = async (search: string) => (await contacts.list(caller, { search })).total;
    expect([await hits('before'), await hits('after')]).toEqual([0, 1]);
    await contacts.delete(caller, id);
    expect(await hits('after')).toBe(0);
  });
});

describe('Short terms also match substrings', () => {
  const alphabet = 'aAáÁbBßq1%_\\-. \u4e2d';
  const word = fc
    .string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 6 })
    .filter((text) => text.trim() === text);
  const plain = (text: string): string =>
    text.toLowerCase().replaceAll('á', 'a').replaceAll('ß', 'ss');

  /** Every `share`-th of 300 names contains the word, which makes it a frequent or a rare term. */
  const crowd = (word: string, share: number): string[] =>
    Array.from({ length: 300 }, (_, i) => (i % share === 0 ? word : 'ooo'));

  test('whatever characters it has, and whether few rows have it or many', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.array(
          word.filter((term) => [...term].length <= 4),
          { minLength: 1, maxLength: 8 },
        ),
        fc.constantFrom(2, 50),
        async (words, terms, share) => {
          const caller = callerIn();
          const names = words.flatMap((name) => crowd(name, share * words.length));
          await pool.query(
            `INSERT INTO tenant_crm.contacts (id, tenant_id, first_name)
             SELECT gen_random_uuid(), $1, unnest($2::text[])`,
            [caller.tenantId, names],
          );
          for (const search of terms) {
            const { total } = await contacts.list(caller, { search });
            const expected = names.filter((name) => plain(name).includes(plain(search)));
            expect({ search, total }).toEqual({ search, total: expected.length });
          }
        },
      ),
      { numRuns: 8 },
    );
  });
});
