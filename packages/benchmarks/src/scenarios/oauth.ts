import { duel } from '../duel.ts';
import { type Program, startProgram } from '../program.ts';
import type { Bench, Result, Scenario } from '../scenario.ts';

const TARGET = 0.6;
const headers = { 'content-type': 'application/x-www-form-urlencoded' };

const form = (fields: Readonly<Record<string, string>>): string =>
  new URLSearchParams(fields).toString();

/** The same requests at the system and at the bare provider, with the addresses that each has. */
const besideProvider = async (
  bench: Bench,
  measure: (system: Endpoints, floor: Endpoints, client: Client) => Promise<Result>,
): Promise<readonly Result[]> => {
  const { system_application, identity_url } = bench.system.stack.system;
  const { client_id, client_secret, scope } = system_application;
  const program: Program = startProgram('floors/oidc-provider', {
    ...{ CLIENT_ID: client_id, CLIENT_SECRET: client_secret, SCOPE: scope },
  });
  try {
    const { url } = await program.ask<{ url: string }>({});
    const system = {
      token: `${identity_url}/api/oauth/token`,
      introspection: `${identity_url}/api/oauth/introspect`,
    };
    const floor = { token: `${url}/token`, introspection: `${url}/token/introspection` };
    return [await measure(system, floor, { client_id, client_secret })];
  } finally {
    await program.stop();
  }
};

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
  if (!access_token) throw new Error(`${url} gave no token: ${response.status}`);
  return access_token;
};

export const grant: Scenario = {
  name: 'grant',
  run: (bench) =>
    besideProvider(bench, (system, floor, client) => {
      const request = { method: 'POST' as const, headers, bodies: [grantOf(client)] };
      return duel(bench, {
        what: 'client-credentials grant',
        subject: { url: system.token, ...request },
        floor: { url: floor.token, ...request },
        target: TARGET,
      });
    }),
};

export const introspection: Scenario = {
  name: 'introspection',
  run: (bench) =>
    besideProvider(bench, async (system, floor, client) => {
      const request = async ({ token, introspection: url }: Endpoints) => ({
        ...{ url, method: 'POST' as const, headers },
        bodies: [form({ token: await tokenFrom(token, client), ...client })],
      });
      return duel(bench, {
        what: 'introspection',
        subject: await request(system),
        floor: await request(floor),
        target: TARGET,
      });
    }),
};
