import { PermissionRegistry } from '@tessera/contracts';
import { permissionLinesOf } from './permission-lines.ts';
import { languages } from './texts/texts.ts';

const registry = new PermissionRegistry({
  rooms: {
    'bookings.list': 'List bookings',
    'bookings.create': 'Book a room for oneself',
    audit: 'See the audit of rooms',
  },
});
const permissionLines = permissionLinesOf(registry);

const acme = { slug: 'acme', name: 'Acme' };
const textsOf = (...patterns: string[]): string[] =>
  permissionLines(patterns, acme, 'en').map(({ text }) => text);

test('every permission has texts in every language', () => {
  for (const { name, system } of new PermissionRegistry().permissions) {
    if (system) continue;
    for (const { language } of languages) {
      const [line, ...more] = permissionLines([name.replace('{slug}', '*')], acme, language);
      expect(more).toEqual([]);
      expect(line?.text).toMatch(/^\p{Lu}[^:]+: \p{L}[^_.]+$/u);
    }
  }
});

test('the verbs of one resource are one line', () => {
  expect(textsOf('tenant.*.crm.contacts.list', 'tenant.acme.crm.contacts.view')).toEqual([
    'Contacts: view',
  ]);
  expect(textsOf('tenant.*.crm.contacts.view', 'tenant.*.crm.contacts.update')).toEqual([
    'Contacts: view and edit',
  ]);
  expect(textsOf('tenant.*.crm.contacts.*')).toEqual(['Contacts: full access']);
});

test('the broadest permission comes first and is highlighted', () => {
  const lines = permissionLines(
    [
      'tenant.*.crm.contacts.update',
      'identity.members.view',
      'identity.members.delete',
      'tenant.*.crm.*.view',
    ],
    acme,
    'en',
  );
  expect(lines).toEqual([
    { text: 'All CRM records: view', isBroad: true },
    { text: 'Members: view and delete', isBroad: true },
    { text: 'Contacts: edit', isBroad: false },
  ]);
});

test('the wildcard is described as everything in the tenant', () => {
  expect(permissionLines(['tenant.*.crm.contacts.view', '*'], acme, 'en')).toEqual([
    { text: 'Everything you can do in Acme, including what is added later', isBroad: true },
  ]);
});

test('patterns that match nothing in the tenant are shown as is', () => {
  expect(textsOf('tenant.globex.crm.contacts.view')).toEqual(['tenant.globex.crm.contacts.view']);
});

test('permissions of a further service are described with its own descriptions', () => {
  expect(textsOf('tenant.*.rooms.bookings.list', 'tenant.*.crm.contacts.view')).toEqual([
    'Contacts: view',
    'rooms: List bookings',
  ]);
  expect(textsOf('tenant.acme.rooms.bookings.*')).toEqual([
    'rooms: List bookings',
    'rooms: Book a room for oneself',
  ]);
});

test('all permissions of a further service are one line, which is highlighted', () => {
  const patterns = ['tenant.*.rooms.*', 'tenant.*.rooms.*.*'];
  expect(permissionLines(patterns, acme, 'en')).toEqual([
    { text: 'rooms: full access', isBroad: true },
  ]);
});
