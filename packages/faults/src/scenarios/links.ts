import type { LinkFault } from '../link.ts';
import type { Scenario } from '../scenario.ts';
import type { System } from '../system.ts';

/** A link is disturbed for a while. */
const disturbed = (
  link: keyof System['links'],
  fault: LinkFault,
  scenario: Pick<Scenario, 'name' | 'title' | 'refusals' | 'needsFileStore'>,
): Scenario => ({
  ...scenario,
  seconds: 20,
  inject: ({ system }) => system.links[link].disturb(fault),
  heal: ({ system }) => system.links[link].restore(),
});

const identity = ['identity_unavailable'];
const files = ['file_unavailable', 'idempotency_key_in_use'];
const page = '<html>It works!</html>';

export const linkScenarios: readonly Scenario[] = [
  disturbed(
    'redis',
    { kind: 'gone' },
    {
      name: 'redis-gone',
      title: 'Redis refuses connections',
      refusals: [],
    },
  ),
  disturbed(
    'redis',
    { kind: 'silent' },
    {
      name: 'redis-silent',
      title: 'Redis does not answer',
      refusals: [],
    },
  ),
  disturbed(
    'identity',
    { kind: 'slow', milliseconds: 1000 },
    {
      name: 'identity-slow',
      title: 'identity answers CRM a second later',
      refusals: identity,
    },
  ),
  disturbed(
    'identity',
    { kind: 'gone' },
    {
      name: 'identity-gone',
      title: 'identity refuses the connections of CRM',
      refusals: identity,
    },
  ),
  disturbed(
    'identity',
    {
      kind: 'answer',
      text: `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
    },
    {
      name: 'identity-garbage',
      title: 'CRM gets 200 with HTML instead of the answers of identity',
      refusals: identity,
    },
  ),
  disturbed(
    'files',
    {
      kind: 'answer',
      text: 'HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    },
    {
      name: 'files-full',
      title: 'the document store (S3) has no room',
      refusals: [...files, 'storage_full'],
      needsFileStore: true,
    },
  ),
  disturbed(
    'files',
    { kind: 'slow', milliseconds: 2000 },
    {
      name: 'files-slow',
      title: 'the document store answers two seconds later',
      refusals: files,
      needsFileStore: true,
    },
  ),
  disturbed(
    'files',
    { kind: 'silent' },
    {
      name: 'files-silent',
      title: 'the document store does not answer',
      refusals: files,
      needsFileStore: true,
    },
  ),
  disturbed(
    'files',
    { kind: 'gone' },
    {
      name: 'files-gone',
      title: 'the document store refuses connections',
      refusals: files,
      needsFileStore: true,
    },
  ),
];
