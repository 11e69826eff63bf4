import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPool } from '@tessera/database-kit';
import { freePort, type Stack, startStack } from '@tessera/local-stack';
import { seedContacts } from '@tessera/seeding';
import type { Options } from './options.ts';

/** As on a server that has been running for a while: log files exist and no checkpoint is due. */
const settledPostgres = { max_wal_size: '4GB', checkpoint_timeout: '1h', wal_init_zero: 'off' };
/** A server with a million contacts has the memory for them. */
const largePostgres = { ...settledPostgres, shared_buffers: '4GB', effective_cache_size: '6GB' };

const postgresSettings = ({ scale, smoke }: Options): Record<string, string> =>
  scale && !smoke ? largePostgres : settledPostgres;

/** Rate limits are counted as usual but never reached. */
const limits = Object.fromEntries(
  ['LOGIN', 'DEFAULT', 'ADDRESS', 'PUBLIC', 'SERVICE', 'SERVICE_PRINCIPAL']
    .map((name) => [`RATE_LIMIT_${name}`, '1000000000'])
    .concat([
      ['RATE_LIMIT_LOGIN_FAILURES', '1000000'],
      // Few accounts represent many users, so each may use all connections.
      ['HASH_QUEUE_LIMIT', '128'],
    ]),
);

const profiling = (folder: string | undefined): Record<string, string> =>
  folder === undefined
    ? {}
    : {
        PROFILE_FOLDER: path.resolve(folder),
        NODE_OPTIONS: `--import=${new URL('profiling.js', import.meta.url)}`,
      };

export type Person = 'administrator' | 'owner' | 'viewer' | 'person' | 'other_owner';

export type Service = 'identity' | 'crm';

/** The whole system with embedded dependencies. */
export interface System {
  /** The running system; a new one after `restart`. */
  readonly stack: Stack;
  /** Signs in; returns the token. */
  signIn(who: Person): Promise<string>;
  /** Signs in with other credentials; returns the token. */
  signInAs(credentials: { readonly email: string; readonly password: string }): Promise<string>;
  /** Resident memory of a service in bytes. */
  memory(service: Service): Promise<number>;
  /** CPU time used by a service since its start, in seconds. */
  cpu(service: Service): Promise<number>;
  /** Restarts everything on the same data; returns the duration of the start in milliseconds. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

/** The value of a metric at a port; with several workers, the sum of theirs and of the primary process. */
export const metricAt = async (port: number, name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const values = text.matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'gm'));
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
};

const makeContacts = async ({ postgres, system }: Stack, count: number): Promise<void> => {
  const pool = createPool(postgres.url('crm'), { applicationName: 'bench', statementTimeout: 0 });
  try {
    await seedContacts(pool, { tenantId: system.owner.tenant_id, count });
    // Otherwise autovacuum would run a minute later, during a measurement.
    await pool.query('VACUUM ANALYZE tenant_crm.contacts');
  } finally {
    await pool.end();
  }
};

/** The directory of the data, which is temporary unless it is to be kept. */
const dataDirectory = async (keep: string | undefined): Promise<string> => {
  if (keep === undefined) return mkdtemp(path.join(tmpdir(), 'tessera-bench-'));
  await mkdir(keep, { recursive: true });
  return path.resolve(keep);
};

/** Makes the data of a system, or finds them in its directory. */
export type Prepare = (stack: Stack, directory: string) => Promise<void>;

export const startSystem = async (
  options: Options,
  prepare: Prepare = (stack) => makeContacts(stack, options.contacts),
): Promise<System> => {
  if (options.profile !== undefined) await mkdir(options.profile, { recursive: true });
  const directory = await dataDirectory(options.keep);
  const metricsPorts = { identity: await freePort(), crm: await freePort() };
  const start = (): Promise<Stack> =>
    startStack({
      directory,
      from: 'bundle',
      postgresSettings: postgresSettings(options),
      environment: { ...limits, ...profiling(options.profile) },
      environmentOf: {
        identity: { METRICS_PORT: `${metricsPorts.identity}` },
        crm: {
          METRICS_PORT: `${metricsPorts.crm}`,
          DATABASE_ROW_SECURITY: `${options.rowSecurity}`,
          STREAMS_PER_CALLER: '10000',
        },
      },
    });
  const metric = (service: Service, name: string): Promise<number> =>
    metricAt(metricsPorts[service], name);
  const remove = async (): Promise<void> => {
    if (options.keep === undefined) await rm(directory, { recursive: true, force: true });
  };
  let started: Stack | undefined;
  try {
    started = await start();
    await prepare(started, directory);
  } catch (error) {
    await started?.stop();
    await remove();
    throw error;
  }
  let stack = started;
  const signInAs: System['signInAs'] = async ({ email, password }) => {
    const response = await fetch(`${stack.identity.url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const answer = (await response.json()) as { data?: { token: string } };
    if (!answer.data) throw new Error(`${email} could not sign in: ${response.status}`);
    return answer.data.token;
  };
  return {
    get stack() {
      return stack;
    },
    signIn: (who) => signInAs(stack.system[who]),
    signInAs,
    memory: (service) => metric(service, 'process_resident_memory_bytes'),
    cpu: (service) => metric(service, 'process_cpu_seconds_total'),
    async restart() {
      await stack.stop();
      const begin = performance.now();
      stack = await start();
      return performance.now() - begin;
    },
    async stop() {
      await stack.stop();
      await remove();
    },
  };
};
