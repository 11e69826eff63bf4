import { randomUUID } from 'node:crypto';
import { type OpenApiDocument, operationsOf } from '@tessera/conformance';
import {
  type BuiltInRoleName,
  builtInRoles,
  type CrmPermission,
  crmPermission,
  crmPermissions,
} from '@tessera/contracts';
import { decide } from '@tessera/scope-matcher';
import { document } from './document.ts';
import { startCrm, type TestCrm } from './testing/crm.ts';

const PUBLIC = ['getService', 'getHealth', 'getLiveness', 'getReadiness', 'getUploadOptions'];

/** Each of their operations requires the permission of its verb (decision C22). */
const BATCHES = ['batchCompanies', 'batchContacts', 'batchTasks'];

const operations = operationsOf(document() as OpenApiDocument);
const roles = Object.keys(builtInRoles) as BuiltInRoleName[];

/** Whether only callers with the given security scheme may use an operation. */
const requires = (operation: object, scheme: string): boolean =>
  'security' in operation && JSON.stringify(operation.security).includes(`"${scheme}"`);

const permissionsOf = (id: string): readonly string[] => {
  const permissions = operations.find((operation) => operation.id === id)?.['x-permissions'];
  return Array.isArray(permissions) ? permissions : [];
};

const guarded = operations.filter((operation) => permissionsOf(operation.id).length > 0);

let crm: TestCrm;
beforeAll(async () => {
  crm = await startCrm();
});
afterAll(() => crm.stop());

test('Every route is public, is for services or bots, or requires permissions that roles grant', () => {
  const others = operations.filter((operation) => !guarded.includes(operation));
  const undecided = others.filter(
    // Links, and what tenants publish (decision C19).
    (operation) =>
      !requires(operation, 'systemToken') &&
      !requires(operation, 'botToken') &&
      !operation.path.startsWith('/public/'),
  );
  expect(undecided.map(({ id }) => id).sort()).toEqual([...PUBLIC, ...BATCHES].sort());
  const required = guarded.flatMap(({ id }) => permissionsOf(id));
  expect(required.filter((permission) => !Object.hasOwn(crmPermissions, permission))).toEqual([]);
});

test.each(guarded.map(({ id }) => id))(
  '%s is allowed for the specified built-in roles',
  async (id) => {
    const { path = '', method = '' } = guarded.find((operation) => operation.id === id) ?? {};
    const url = path.replace(/\{\w+\}/g, () => randomUUID());
    const isRead = method === 'GET' || method === 'HEAD';
    const required = permissionsOf(id).map((name) => crmPermission('acme', name as CrmPermission));
    for (const role of roles) {
      const { policies } = builtInRoles[role];
      const lacking = required.find((permission) => !decide(policies, permission).allowed);
      const answer = await fetch(crm.url + url, {
        method,
        headers: Object.assign(
          crm.caller({ policies }),
          isRead ? {} : { 'content-type': 'application/json' },
        ),
        body: isRead ? null : '{}',
      });
      const { status } = answer;
      const isJson = method !== 'HEAD' && /json/.test(answer.headers.get('content-type') ?? '');
      const body = (isJson ? await answer.json() : {}) as Readonly<Record<string, unknown>>;
      // An event stream has no end.
      if (!isJson) await answer.body?.cancel();
      // An admitted request fails for other reasons: the record does not exist, or the body is empty.
      const isHead = method === 'HEAD';
      const denied = status === 403 && (isHead || body.error === 'permission_denied');
      const named = isHead ? lacking : body.required_permission;
      expect([role, denied, named]).toEqual([role, lacking !== undefined, lacking]);
    }
  },
);
