import { randomUUID } from 'node:crypto';
import { type TestTenant, tenantForEachTest } from './tenant.ts';

type Headers = Readonly<Record<string, string>>;

/** A user of the test's tenant, with every permission. */
export interface TestUser {
  readonly id: string;
  readonly headers: Headers;
}

export interface ChatTenant extends TestTenant {
  readonly channels: string;
  user(): TestUser;
  /** The headers of a client of the tenant `acme`, and those of a user there. */
  client(id: string): Headers;
  colleague(): Headers;
  /** The path of a new channel, which is public unless `fields` say otherwise. */
  channel(fields?: object, owner?: Headers): Promise<string>;
}

/** The tenant of a test of the chat. */
export const chatTenant = (): ChatTenant => {
  const tenant = tenantForEachTest();
  const channels = '/api/crm/channels';
  return {
    ...tenant,
    channels,
    user() {
      const id = randomUUID();
      return { id, headers: tenant.caller({ id }) };
    },
    client(id) {
      const { headers } = tenant
        .crm()
        .identity.signIn({ type: 'client', id, tenants: [], scopes: ['*'] });
      return { ...headers, 'x-tenant': 'acme' };
    },
    colleague: () => tenant.crm().caller(),
    async channel(fields = {}, owner = {}) {
      const { body } = await tenant
        .post(channels, { name: 'General', ...fields }, owner)
        .expect(201);
      return `${channels}/${body.data.id}`;
    },
  };
};
