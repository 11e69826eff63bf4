import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PrincipalPayload } from '@tessera/contracts';
import jwt from 'jsonwebtoken';
import { jwks, kid, privateKey } from './key.ts';

const YEAR_IN_SECONDS = 365 * 86_400;

const tenant = {
  id: '00000000-0000-4000-8000-000000000002',
  slug: 'local',
  name: 'Local',
  plan: 'business',
  is_active: true,
};

/**
 * The principal of every caller. CRM's fake caller has the same ids, so both see the same records.
 */
export const fixedPrincipal = (): PrincipalPayload => ({
  id: '00000000-0000-4000-8000-000000000001',
  type: 'user',
  email: 'developer@local.test',
  name: 'Local Developer',
  tenant_id: tenant.id,
  is_system_admin: false,
  is_service_account: false,
  tenants: [tenant],
  token_id: 'identity-stub',
  policies_version: null,
  expires_at: new Date(Date.now() + YEAR_IN_SECONDS * 1000),
});

const accessToken = (issuer: string): string =>
  jwt.sign({ tenant_id: tenant.id, client_id: 'identity-stub', token_use: 'login' }, privateKey, {
    algorithm: 'ES256',
    header: { alg: 'ES256', typ: 'at+jwt', kid },
    issuer,
    audience: issuer,
    subject: fixedPrincipal().id,
    jwtid: randomUUID(),
    expiresIn: YEAR_IN_SECONDS,
  });

const responses: Readonly<Record<string, (issuer: string) => object>> = {
  'GET /api/user': () => ({ success: true, data: fixedPrincipal() }),
  'GET /api/policies': () => ({ success: true, data: [{ action: '*', effect: 'allow' }] }),
  [`GET /api/tenants/${tenant.id}/rights`]: () => ({
    success: true,
    data: {
      active: true,
      tenant_slug: tenant.slug,
      is_system_admin: false,
      policies: [{ action: '*', effect: 'allow' }],
    },
  }),
  'POST /api/oauth/token': () => ({
    access_token: 'identity-stub',
    token_type: 'Bearer',
    expires_in: YEAR_IN_SECONDS,
  }),
  'GET /.well-known/jwks.json': () => jwks,
  'POST /oauth/token': (issuer) => ({
    access_token: accessToken(issuer),
    token_type: 'Bearer',
    expires_in: YEAR_IN_SECONDS,
  }),
};

const HOST = '127.0.0.1';

const handle: RequestListener = (req, res) => {
  const operation = `${req.method} ${req.url?.split('?')[0]}`;
  const found = responses[operation]?.(`http://${HOST}:${req.socket.localPort}`);
  const missing = {
    success: false,
    message: `The stub does not implement ${operation}.`,
    error: 'not_found',
  };
  res.writeHead(found ? 200 : 404, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  res.end(JSON.stringify(found ?? missing));
  // The body is irrelevant, but must be read before the next request.
  req.resume();
};

export interface IdentityStub {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Replaces identity during work on a service that uses it (crm.md section 5.6): it checks no token or secret;
 * every caller is the same user with all permissions. It listens only on loopback. Port 0 means any free port;
 * a port in use rejects with an error that names IDENTITY_STUB_PORT.
 */
export const startIdentityStub = async (port: number): Promise<IdentityStub> => {
  const server = createServer(handle).listen(port, HOST);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is taken; set IDENTITY_STUB_PORT to a free one.`);
  });
  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** Instructions to get a token of the stub and use it with CRM. */
export const stubNotice = (stubUrl: string, crmUrl: string): string => `
The identity stub is at ${stubUrl}: every caller is the same user of the tenant "local", with all permissions.

  TOKEN=$(curl -sS -X POST ${stubUrl}/oauth/token | node -p 'JSON.parse(fs.readFileSync(0)).access_token')
  curl -sS ${crmUrl}/api/crm/contacts -H "Authorization: Bearer $TOKEN"
`;
