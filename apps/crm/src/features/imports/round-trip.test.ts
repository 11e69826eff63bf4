import { optional, type Shape, shape, validate } from '@tessera/fields';
import fc from 'fast-check';
import { listExport } from '../../http.ts';
import type { Kind } from '../../records/kind.ts';
import { company } from '../companies/companies.kind.ts';
import { contact } from '../contacts/contacts.kind.ts';
import { fieldTypes, valueField } from '../custom-fields/field-types.ts';
import { assignColumns } from './columns.ts';
import { readRows } from './csv.ts';
import { rowReader } from './row-reader.ts';

/** Texts of the characters that mean something to spreadsheets, CSV, or JSON. */
const words = fc.string({
  unit: fc.constantFrom(...`'="+-@,;[]{}\\n\r\n\t\uff1d ab0ő`),
  minLength: 1,
  maxLength: 12,
});
const id = fc.uuid({ version: 4 });
const labelled = <T>(field: string, value: fc.Arbitrary<T>) =>
  fc.array(fc.record({ label: words, [field]: value }), { maxLength: 2 });
const email = fc.emailAddress();
const addresses = fc.array(
  fc.record({ label: words, line1: words, city: words, country: fc.constantFrom('HU', 'DE') }),
  { maxLength: 2 },
);
const optionally = { requiredKeys: [] };

const contacts = fc.record(
  {
    first_name: words,
    last_name: words,
    email,
    phone: words,
    title: words,
    company_id: id,
    owner_id: id,
    notes: words,
    tags: fc.array(words, { maxLength: 3 }),
    emails: labelled('email', email),
    phones: labelled('phone', words),
    addresses,
  },
  optionally,
);
const companies = fc.record(
  {
    name: words,
    domain: fc.domain(),
    tax_number: words,
    email,
    phone: words,
    industry: words,
    owner_id: id,
    notes: words,
    tags: fc.array(words, { maxLength: 3 }),
    addresses,
  },
  optionally,
);

/** What a row of the file that an export makes of a record sets. */
const exportedAndRead = async (kind: Kind, rowShape: Shape, record: object, columns: string[]) => {
  const times = { created_at: new Date(0), updated_at: new Date(0) };
  const exported = listExport({ name: 'records', item: kind.answer });
  const batches = async function* () {
    yield [{ ...record, id: 'an id', ...times }];
  };
  const [body] = exported.file('csv', batches(), columns);
  const bytes = async function* () {
    for await (const chunk of body.chunks) yield Buffer.from(chunk);
  };
  const rows: (readonly string[])[] = [];
  const format = { encoding: 'utf-8', delimiter: 'comma' } as const;
  for await (const { cells } of readRows(bytes(), format)) rows.push(cells);
  const [header = [], row = [], ...rest] = rows;
  const assigned = assignColumns(rowShape, header);
  if (!assigned.ok) throw new Error(assigned.message);
  expect(rest).toEqual([]);
  const rules = { ofNew: rowShape, blankCells: 'keep' } as const;
  return rowReader(rowShape, assigned, rules)(row, 0);
};

const withoutNull = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));

test.each<[string, Kind, fc.Arbitrary<object>]>([
  ['contacts', contact as unknown as Kind, contacts],
  ['companies', company as unknown as Kind, companies],
])(
  'Each field of exported %s is imported with the value that it had',
  async (_name, kind, some) => {
    const { [kind.tenantFields?.column ?? '']: _custom, ...fields } = kind.create.fields;
    const rowShape = shape(fields);
    const columns = Object.keys(kind.answer.fields).filter((name) => name !== 'custom');
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(some, async (input) => {
        const checked = validate(rowShape, input, 'body');
        if (!checked.ok) return;
        valid += 1;
        const record = checked.value as object;
        const read = await exportedAndRead(kind, rowShape, record, columns);
        expect(read).toMatchObject({ ok: true });
        if (read.ok) expect(withoutNull(read.input)).toEqual(withoutNull(record));
      }),
      { numRuns: 300 },
    );
    expect(valid).toBeGreaterThan(30);
  },
);

test('Each value of a custom field is imported as it was exported', async () => {
  const values = {
    text: words,
    number: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    date: fc.constantFrom('2026-02-28', '0001-01-01', '9999-12-31'),
    bool: fc.boolean(),
    choice: fc.constantFrom('=gold', 'silver, old'),
  };
  const field = (type: keyof typeof values) => valueField(type, ['=gold', 'silver, old']);
  const declared = shape(
    Object.fromEntries(fieldTypes.map((type) => [type, optional(field(type))])),
  );
  const rowShape = shape({
    first_name: contact.create.fields.first_name as never,
    ...Object.fromEntries(fieldTypes.map((type) => [`custom.${type}`, optional(field(type))])),
  });
  const columns = ['id', 'first_name', ...fieldTypes.map((type) => `custom.${type}`)];
  await fc.assert(
    fc.asyncProperty(fc.record(values, optionally), async (given) => {
      const checked = validate(declared, given, 'custom');
      if (!checked.ok) return;
      const custom = checked.value as object;
      const record = { first_name: 'Ada', custom };
      const read = await exportedAndRead(contact as unknown as Kind, rowShape, record, columns);
      const expected = Object.entries(custom).map(([key, value]) => [`custom.${key}`, value]);
      const input = { first_name: 'Ada', ...Object.fromEntries(expected) };
      expect(read).toMatchObject({ ok: true, input });
    }),
    { numRuns: 300 },
  );
});
