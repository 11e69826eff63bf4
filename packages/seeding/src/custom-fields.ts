import type pg from 'pg';
import type { Random } from './random.ts';
import { inTransaction } from './transaction.ts';

interface CustomField {
  readonly key: string;
  readonly label: string;
  readonly type: 'text' | 'number' | 'date' | 'bool' | 'choice';
  readonly choices: readonly string[];
  readonly isFilterable: boolean;
}

const tiers = ['bronze', 'silver', 'gold'];
const sources = ['website', 'referral', 'trade fair', 'cold call', 'advertisement'];

/** The custom fields that every seeded tenant declares for its contacts. */
export const customFields: readonly CustomField[] = [
  { key: 'tier', label: 'Tier', type: 'choice', choices: tiers, isFilterable: true },
  { key: 'source', label: 'Source', type: 'text', choices: [], isFilterable: true },
  { key: 'score', label: 'Score', type: 'number', choices: [], isFilterable: true },
  { key: 'birthday', label: 'Birthday', type: 'date', choices: [], isFilterable: false },
  { key: 'newsletter', label: 'Newsletter', type: 'bool', choices: [], isFilterable: false },
];

/** The values of a contact: most have none. */
export const customValues = (random: Random): Readonly<Record<string, unknown>> => {
  if (!random.chance(0.3)) return {};
  const birthday = new Date(Date.UTC(1950 + Math.floor(random.next() * 55), 0, 1));
  birthday.setUTCDate(1 + Math.floor(random.next() * 365));
  return {
    tier: random.pick(tiers),
    source: random.pick(sources),
    score: Math.floor(random.next() * 101),
    birthday: birthday.toISOString().slice(0, 10),
    newsletter: random.chance(0.5),
  };
};

const INSERT = `
  INSERT INTO tenant_crm.custom_fields (tenant_id, id, key, label, type, choices, is_filterable, position)
  SELECT tenant, gen_random_uuid(), $2, $3, $4, $5, $6, $7 FROM unnest($1::uuid[]) AS tenant
  ON CONFLICT (tenant_id, key) DO NOTHING`;

/** Declares the custom fields in these tenants, unless they have fields with these keys. */
export const declareCustomFields = (
  pool: pg.Pool,
  tenantIds: readonly string[],
  signal?: AbortSignal,
): Promise<void> =>
  inTransaction(pool, signal, async (client) => {
    for (const [position, field] of customFields.entries()) {
      const { key, label, type, choices, isFilterable } = field;
      await client.query(INSERT, [tenantIds, key, label, type, choices, isFilterable, position]);
    }
  });
