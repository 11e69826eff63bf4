import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Stack } from '@tessera/local-stack';
import {
  openPool,
  type Seeded,
  type SeedOptions,
  seed,
  silentProgress,
  terminalProgress,
} from '@tessera/seeding';
import bcrypt from 'bcrypt';
import type { Options } from '../options.ts';

/** A tenant, and the credentials of its owner. */
export interface SeededOwner {
  readonly tenantId: string;
  /** The number of its contacts. */
  readonly rows: number;
  readonly email: string;
  readonly password: string;
}

/** The tenants whose requests are measured. */
export interface SeededTenants {
  readonly large: SeededOwner;
  /** A tenant with 10,000 contacts (fewer in a smoke run). */
  readonly reference: SeededOwner;
  /** One of 1,000 small tenants. */
  readonly small: SeededOwner;
}

const BCRYPT_COST = 12;
/** The file that says which data a directory has. */
const FILE = 'scale.json';

interface Content {
  readonly rows: number;
  /** The password of all owners. */
  readonly password: string;
  /** Absent until all of their records are loaded. */
  readonly tenants?: SeededTenants;
}

/** The records of a tenant with this many contacts. */
const recordsFor = (rows: number): SeedOptions['records'] => ({
  companies: Math.ceil(rows / 5),
  contacts: rows,
  communication_logs: Math.ceil(rows / 2),
  leave_requests: 1000,
  projects: 50,
  tasks: Math.ceil(rows / 5),
  time_entries: rows,
});

const readContent = async (file: string): Promise<Content | undefined> => {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Content);
};

const create = async (
  { postgres }: Stack,
  password: string,
  { rows, smoke }: Options,
): Promise<SeededTenants> => {
  const identity = openPool(postgres.url('identity'));
  const crm = openPool(postgres.url('crm'));
  const common = {
    tenants: 1,
    users: 50,
    samples: true,
    now: new Date(),
    exclusive: true,
    passwordHash: await bcrypt.hash(password, BCRYPT_COST),
  };
  const progress = smoke ? silentProgress : terminalProgress();
  const add = (options: Pick<SeedOptions, 'seed' | 'smallTenants' | 'records'>): Promise<Seeded> =>
    seed({ identity, crm }, { ...common, ...options }, progress);
  const owner = (tenant: Seeded['tenants'][number] | undefined, contacts: number): SeededOwner => {
    if (tenant?.ownerEmail === undefined) throw new Error('A tenant has not been created.');
    return { tenantId: tenant.id, rows: contacts, email: tenant.ownerEmail, password };
  };
  const few = smoke ? 500 : 10_000;
  try {
    const { tenants: referred } = await add({
      seed: 2,
      smallTenants: 0,
      records: recordsFor(few),
    });
    const { tenants } = await add({
      seed: 1,
      smallTenants: smoke ? 2 : 1000,
      records: recordsFor(rows),
    });
    await crm.query('CHECKPOINT');
    return {
      large: owner(tenants[0], rows),
      reference: owner(referred[0], few),
      small: owner(tenants[1], 300),
    };
  } finally {
    await Promise.all([identity.end(), crm.end()]);
  }
};

/**
 * Creates the tenants in a running system, which takes minutes, or finds those that an earlier run has left in the
 * directory.
 */
export const seedTenants = async (
  stack: Stack,
  directory: string,
  options: Options,
): Promise<SeededTenants> => {
  const file = path.join(directory, FILE);
  const { rows } = options;
  const existing = await readContent(file);
  if (existing && existing.rows !== rows) {
    throw new Error(`${file} is of --rows ${existing.rows}: use that, or another directory.`);
  }
  if (existing?.tenants) return existing.tenants;
  // A run that is interrupted from here on is continued by the next.
  const password = existing?.password ?? `${randomBytes(12).toString('base64url')}-aA1`;
  const write = (content: Content): Promise<void> => writeFile(file, JSON.stringify(content));
  await write({ rows, password });
  const tenants = await create(stack, password, options);
  await write({ rows, password, tenants });
  return tenants;
};
