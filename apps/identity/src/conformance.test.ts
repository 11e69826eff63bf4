import { readFileSync } from 'node:fs';
import { conformance, type OpenApiDocument, type Tenant as Side } from '@tessera/conformance';
import type { Tenant } from './generated/prisma/client.ts';
import { digest } from './secrets.ts';
import { startIdentity, type TestIdentity } from './testing/identity.ts';

const document = JSON.parse(
  readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'),
) as OpenApiDocument;

const unknownDevice = { name: '?', type: 'unknown', browser: 'unknown', os: 'unknown' };

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
        const { id } = await identity.context.database.device.create({
          data: { ...unknownDevice, userId, secretHash: new Uint8Array(digest(userId)) },
        });
        return { tenantId: tenants[side].id, userId, id };
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
