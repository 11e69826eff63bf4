import { readFileSync } from 'node:fs';
import { crmEventResourceNames, crmTopicOf, eventTypes as identityTypes } from '@tessera/contracts';
import { declaredKinds } from '../testing/declared-kinds.ts';
import { eventDescriptions, eventTypes, withoutEvents } from './event-types.ts';

test('Changes of every declared kind of record are events, or it is stated why not', async () => {
  const withEvents = new Set<string>(eventDescriptions.map(({ table }) => table));
  const missing = (await declaredKinds())
    .map(({ table }) => table)
    .filter((table) => !withEvents.has(table) && !withoutEvents[table]);
  expect(missing).toEqual([]);
});

test('Every kind of record with events has those of its creation, its changes and its deletion', async () => {
  for (const { table } of await declaredKinds()) {
    if (withoutEvents[table]) continue;
    const actions = eventDescriptions.filter((one) => one.table === table).map((one) => one.action);
    expect(actions).toEqual(expect.arrayContaining(['create', 'update', 'delete']));
  }
});

test('Each type is the event of one action of one table', () => {
  expect(new Set(eventTypes).size).toBe(eventTypes.length);
  const changes = eventDescriptions.map(({ table, action }) => `${table} ${action}`);
  expect(new Set(changes).size).toBe(changes.length);
});

test('docs/events.md names every event', () => {
  const document = readFileSync(new URL('../../../../docs/events.md', import.meta.url), 'utf8');
  const rows = document.split('\n').filter((line) => line.startsWith('| `'));
  const rowOf = (name: string) => rows.find((row) => row.startsWith(`| \`${name}\` |`)) ?? '';
  expect(identityTypes.filter((type) => rowOf(type) === '')).toEqual([]);
  const undocumented = crmEventResourceNames.flatMap((resource) =>
    eventDescriptions
      .filter((one) => one.resource === resource)
      .map(({ type }) => type.slice(crmTopicOf(resource).length + 1))
      .filter((verb) => !rowOf(crmTopicOf(resource)).includes(`\`${verb}\``))
      .map((verb) => `${crmTopicOf(resource)} ${verb}`),
  );
  expect(undocumented).toEqual([]);
});
