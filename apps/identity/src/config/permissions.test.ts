import { fileURLToPath } from 'node:url';
import { readConfig } from '../config.ts';
import { testEnvironment } from '../testing/identity.ts';

const registryIn = (environment: Record<string, string>) =>
  readConfig({ ...testEnvironment('postgres://localhost/x'), ...environment }).permissions;
const registryOf = (document: unknown) => registryIn({ PERMISSIONS: JSON.stringify(document) });

const many = (prefix: string, count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]));

describe('PERMISSIONS', () => {
  test('adds the permissions of further services to those of the release', () => {
    const { permissions } = registryOf({
      rooms: { 'bookings.list': 'List bookings', audit: 'See the audit of rooms' },
      'meeting-notes_2': { 'minutes.items.sign': 'Sign the minutes' },
    });
    const described = { system: false, description: expect.any(String) };
    expect(permissions).toEqual(
      expect.arrayContaining([
        { name: 'tenant.{slug}.rooms.bookings.list', description: 'List bookings', system: false },
        { name: 'tenant.{slug}.rooms.audit', ...described },
        { name: 'tenant.{slug}.meeting-notes_2.minutes.items.sign', ...described },
        { name: 'tenant.{slug}.crm.contacts.list', ...described },
      ]),
    );
  });

  test('can be in a file', () => {
    const path = new URL(
      '../../../../packages/resource-server/src/example/permissions.json',
      import.meta.url,
    );
    const { permissions } = registryIn({ PERMISSIONS_FILE: fileURLToPath(path) });
    expect(permissions.map(({ name }) => name)).toContain('tenant.{slug}.rooms.bookings.create');
  });

  test('may be empty', () => {
    expect(registryOf({}).permissions).toEqual(registryIn({}).permissions);
    expect(registryOf({ rooms: {} }).permissions).toEqual(registryIn({}).permissions);
  });

  test.each([
    ['names the service "crm", whose permissions are built in', { crm: { 'deals.list': 'List' } }],
    ['names the service "identity", whose permissions are built in', { identity: {} }],
    ['names the service "Rooms", but the name of a service consists of', { Rooms: {} }],
    ['names the service "a.b", but the name of a service consists of', { 'a.b': {} }],
    ['names the service "*", but the name of a service consists of', { '*': {} }],
    ['names the permission "bookings.List", but each segment', { rooms: { 'bookings.List': 'L' } }],
    ['names the permission "bookings.*", but each segment', { rooms: { 'bookings.*': 'All' } }],
    ['names the permission "a..list", but each segment', { rooms: { 'a..list': 'List' } }],
    [`"${'a'.repeat(31)}", which is longer than 30`, { ['a'.repeat(31)]: {} }],
    [`"${'a'.repeat(91)}", which is longer than 90`, { rooms: { ['a'.repeat(91)]: 'Long' } }],
    ['has more than 500 permissions', many('service', 3, many('p', 167, 'One'))],
    ['is invalid: rooms.bookings.list must be a string', { rooms: { 'bookings.list': 1 } }],
    ['is invalid: rooms.bookings.list ', { rooms: { 'bookings.list': ' ' } }],
    ['is invalid: rooms must be', { rooms: ['bookings.list'] }],
    ['is invalid: the whole must be', []],
    ['is invalid: the whole must be', null],
    ['is invalid: the whole must have', many('service', 21, {})],
  ])('is rejected if it %s', (problem, document) => {
    expect(() => registryOf(document)).toThrow('- PERMISSIONS ');
    expect(() => registryOf(document)).toThrow(problem);
  });

  test('is rejected if it is not JSON or too long', () => {
    expect(() => registryIn({ PERMISSIONS: '{"rooms":' })).toThrow('- PERMISSIONS must be JSON');
    const long = JSON.stringify({ rooms: { 'bookings.list': 'L'.repeat(500_001) } });
    expect(() => registryIn({ PERMISSIONS: long })).toThrow(
      /^.*\n- PERMISSIONS [^\n]*500000[^\n]*$/,
    );
  });
});
