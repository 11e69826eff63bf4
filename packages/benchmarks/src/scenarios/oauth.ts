import { CONNECTIONS, compare } from '../comparison.ts';
import type { Listening } from '../floors/listening.ts';
import type { Target } from '../load/plan.ts';
import { startProgram } from '../program.ts';
import type { Bench, Result, Scenario } from '../scenario.ts';

const TARGET = 0.6;
const headers = { 'content-type': 'application/x-www-form-urlencoded' };

const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

interface Endpoints {
  readonly token: string;
  readonly introspection: string;
}

interface Client {
  readonly client_id: string;
  readonly client_secret: string;
}

const grantOf = (client: Client): string => form({ grant_type: 'client_credentials', ...client });

const tokenFrom = async (url: string, client: Client): Promise<string> => {
  const response = await fetch(url, { method: 'POST', headers, body: grantOf(client) });
  const { access_token } = (await response.json()) as { access_token?: string };
  if (!access_token) throw new Error(`${url} returned no token: ${response.status}`);
  return access_token;
};

/** Compares a request to the system with one to the bare provider. */
const besideProvider = async (
  bench: Bench,
  what: string,
  requestTo: (endpoints: Endpoints, client: Client) => Target | Promise<Target>,
): Promise<readonly Result[]> => {
  const { system } = bench;
  const { system_application, identity_url } = system.stack.system;
  const { client_id, client_secret, scope } = system_application;
  const client = { client_id, client_secret };
  const program = startProgram('floors/oidc-provider', {
    CLIENT_ID: client_id,
    CLIENT_SECRET: client_secret,
    SCOPE: scope,
  });
  try {
    const { url } = await program.ask<Listening>({});
    const own = {
      token: `${identity_url}/api/oauth/token`,
      introspection: `${identity_url}/api/oauth/introspect`,
    };
    const bare = { token: `${url}/token`, introspection: `${url}/token/introspection` };
    const result = await compare(bench, {
      what,
      subject: { request: await requestTo(own, client), cpu: () => system.cpu('identity') },
      floor: {
        request: await requestTo(bare, client),
        cpu: async () => (await program.ask<Listening>({})).cpuSeconds,
      },
      target: TARGET,
    });
    return [result];
  } finally {
    await program.stop();
  }
};

export const grant: Scenario = {
  name: 'grant',
  run: (bench) =>
    besideProvider(bench, 'client-credentials grant', ({ token }, client) => ({
      url: token,
      method: 'POST',
      headers,
      variants: [{ body: grantOf(client) }],
    })),
};

export const introspection: Scenario = {
  name: 'introspection',
  run: (bench) =>
    besideProvider(bench, 'introspection', async (endpoints, client) => ({
      url: endpoints.introspection,
      method: 'POST',
      headers,
      variants: await Promise.all(
        Array.from({ length: CONNECTIONS }, async () => ({
          body: form({ token: await tokenFrom(endpoints.token, client), ...client }),
        })),
      ),
    })),
};
