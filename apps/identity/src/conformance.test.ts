import { readFileSync } from 'node:fs';
import { conformance, type OpenApiDocument, type Tenant as Side } from '@tessera/conformance';
import type { Tenant } from './generated/prisma/client.ts';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;

let identity: TestIdentity;

conformance(
  document,
  async () => {
    identity = await startIdentity();
    const tenants: Record<Side, Tenant> = {
      own: await identity.people.tenant(),
      other: await identity.people.tenant(),
    };
    return {
      url: identity.url,
      caller: (side, lacking) =>
        identity.people.caller(tenants[side], '*', ...(lacking ? [`!${lacking}`] : [])),
      async parameters(side) {
        const { id: userId } = await identity.people.user({ tenant: tenants[side] });
        return { tenantId: tenants[side].id, userId };
      },
      bodies: {
        updateMember: () => ({
          role: 'viewer',
          policies: [{ action: 'identity.members.list', effect: 'allow' }],
        }),
      },
    };
  },
  () => identity.stop(),
);
