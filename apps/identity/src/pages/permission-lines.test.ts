import { permissionRegistry } from '@tessera/contracts';
import { permissionLines } from './permission-lines.ts';
import { languages } from './texts/texts.ts';

const acme = { slug: 'acme', name: 'Acme' };
const textsOf = (...patterns: string[]): string[] =>
  permissionLines(patterns, acme, 'en').map(({ text }) => text);

test('every permission has texts in every language', () => {
  for (const { name, system } of permissionRegistry) {
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
