import type { BuiltInRoleName } from '@tessera/contracts';
import type { Test } from 'supertest';
import type { Tenant } from '../generated/prisma/client.ts';
import type { TestIdentity } from './identity.ts';
import type { Bearer } from './population.ts';

export interface KeyBody {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly expires_at?: string;
}

/** The service accounts of one tenant and their keys, as one caller sees to them. */
export const serviceAccountsOf = (
  { http }: TestIdentity,
  { id: tenantId }: Pick<Tenant, 'id'>,
  bearer: Bearer,
) => {
  const collection = `/api/tenants/${tenantId}/service-accounts`;
  const keys = (account: string) => `${collection}/${account}/api-keys`;
  return {
    collection,
    list: (query = ''): Test => http.get(collection + query).set(bearer),
    create: (body: object): Test => http.post(collection).set(bearer).send(body),
    show: (id: string): Test => http.get(`${collection}/${id}`).set(bearer),
    update: (id: string, body: object): Test =>
      http.put(`${collection}/${id}`).set(bearer).send(body),
    remove: (id: string): Test => http.delete(`${collection}/${id}`).set(bearer),
    createKey: (account: string, body: KeyBody = {}): Test =>
      http
        .post(keys(account))
        .set(bearer)
        .send({ name: 'Nightly import', ...body }),
    listKeys: (account: string, query = ''): Test => http.get(keys(account) + query).set(bearer),
    rotateKey: (account: string, key: string): Test =>
      http.post(`${keys(account)}/${key}/rotate`).set(bearer),
    revokeKey: (account: string, key: string): Test =>
      http.delete(`${keys(account)}/${key}`).set(bearer),
    /** A new account of a role; gives its id. */
    async account(role: string, more: object = {}): Promise<string> {
      const { status, body } = await this.create({ name: 'Importer', role, ...more });
      if (status !== 201) throw new Error(`No account was made: ${JSON.stringify(body)}`);
      return body.data.id;
    },
    /** A new key of an account. */
    async key(account: string, body: KeyBody = {}): Promise<{ key: string; token_id: string }> {
      const answer = await this.createKey(account, body);
      if (answer.status !== 201) throw new Error(`No key: ${JSON.stringify(answer.body)}`);
      return answer.body.data;
    },
  };
};

export type ServiceAccounts = ReturnType<typeof serviceAccountsOf>;

/** The service accounts of a tenant, as a new member of a built-in role sees to them. */
export const serviceAccountsAs = async (
  identity: TestIdentity,
  tenant: Tenant,
  role: BuiltInRoleName,
): Promise<ServiceAccounts> => {
  const user = await identity.people.user({ tenant, role });
  return serviceAccountsOf(identity, tenant, await identity.people.signIn(user));
};
