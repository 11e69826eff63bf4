import { randomUUID } from 'node:crypto';
import type { Tenant as Side, Subject } from '@tessera/conformance';
import { isSystemPermission } from '@tessera/contracts';
import type { Tenant } from '../generated/prisma/client.ts';
import { digest } from '../security/secrets.ts';
import type { TestIdentity } from './identity.ts';
import { claimsOf, issue } from './tokens.ts';

const policies = [{ action: 'identity.members.list', effect: 'allow' }];
const unknownDevice = { name: '?', type: 'unknown', browser: 'unknown', os: 'unknown' };

const invitationTo = async (
  identity: TestIdentity,
  { id: tenantId }: Tenant,
): Promise<{ id: string }> => {
  const { oneTimeToken } = identity.context.database;
  const email = `${randomUUID()}@example.test`;
  const roleId = await identity.people.builtInRole('viewer');
  const expiresAt = new Date(Date.now() + 86_400_000);
  const invitation = { purpose: 'invitation', email, tenantId, roleId, expiresAt };
  return oneTimeToken.create({ data: { ...invitation, tokenHash: digest(email) } });
};

/** What the generated tests need to know about identity. */
export const conformanceSubject = async (
  identity: TestIdentity,
): Promise<Omit<Subject, 'document'>> => {
  const tenants: Record<Side, Tenant> = {
    own: await identity.people.tenant(),
    other: await identity.people.tenant(),
  };
  return {
    url: identity.url,
    caller: (side, lacking) =>
      identity.people.caller(tenants[side], '*', ...(lacking ? [`!${lacking}`] : [])),
    callerOutsideTenants({ 'x-permissions': needed }) {
      if (![needed].flat().some((name) => isSystemPermission(name ?? ''))) return undefined;
      return identity.people
        .user({ data: { isSystemAdmin: true } })
        .then((user) => identity.people.signIn(user));
    },
    async client() {
      // Everything that does not affect the tenants of other tests.
      const scopes = identity.context.config.permissions.permissions
        .map(({ name }) => name)
        .filter((name) => !name.startsWith('identity.tenants.'));
      return (await identity.people.application(scopes.join(' '))).bearer;
    },
    async parameters(side, path) {
      const isServiceAccount = path.includes('/service-accounts/');
      const tenant = tenants[side];
      const { id: userId } = await identity.people.user({ tenant, data: { isServiceAccount } });
      const key = await issue(identity, { userId, tenantId: tenant.id, use: 'api_key' });
      const { id } = path.includes('/invitations/')
        ? await invitationTo(identity, tenant)
        : path.endsWith('/admin/users/{id}')
          ? { id: userId }
          : await identity.context.database.device.create({
              data: { ...unknownDevice, userId, secretHash: digest(userId) },
            });
      const keyId = claimsOf(key).jti ?? '';
      // An app without the caller's consent.
      const clientId = `app-of-${side}`;
      return { tenantId: tenant.id, userId, id, keyId, clientId };
    },
    traces: () => identity.context.database.$queryRaw`
      SELECT (SELECT count(*) FROM identity.outbox) AS events,
        (SELECT count(*) FROM identity.activity_entries) AS activity,
        (SELECT sum(version) FROM identity.policy_versions) AS policies`,
    bodies: {
      createServiceAccount: () => ({ role: 'viewer' }),
      updateServiceAccount: () => ({ role: 'viewer' }),
      createApiKey: () => ({
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        scopes: ['identity.members.list'],
      }),
      updateMember: () => ({ role: 'viewer', policies }),
      createRole: () => ({ name: randomUUID(), policies }),
      updateRole: () => ({ name: randomUUID(), policies }),
    },
  };
};
