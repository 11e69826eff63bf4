import { alternate } from '../../comparison.ts';
import { type Load, median, percentile } from '../../load/plan.ts';
import type { ScaleScenario } from '../../scale/bench.ts';
import { contacts } from './table.ts';

const UPDATES = 200;
const SMOKE_UPDATES = 5;
const ROUNDS = 9;
/** How much longer an update with its history may take. */
const MAX_SHARE = 1.25;

const PLAIN = `
  UPDATE tenant_crm.contacts SET title = $3, version = version + 1, updated_at = $4
  WHERE tenant_id = $1::uuid AND id = $2::uuid AND deleted_at IS NULL RETURNING ${contacts.columns}`;

/** The statement of CRM: the values before are read under the lock of the row. */
const WITH_HISTORY = `
  WITH changed AS (
    UPDATE tenant_crm.contacts SET title = $3, version = version + 1, updated_at = $4 FROM (
      SELECT id AS former_id, title AS former_title FROM tenant_crm.contacts
      WHERE tenant_id = $1::uuid AND id = $2::uuid AND deleted_at IS NULL FOR NO KEY UPDATE
    ) AS former
    WHERE tenant_id = $1::uuid AND id = former_id
    RETURNING ${contacts.columns}, former_id, former_title
  ), recorded AS (
    INSERT INTO tenant_crm.record_changes (tenant_id, table_name, record_id, changed_at, version, action,
      actor_type, user_id, client_id, token_id, impersonator_id, changes)
    SELECT $1::uuid, 'contacts', id, clock_timestamp(), version, 'update', 'user', $2::uuid, 'bench', 'bench',
      NULL, CASE WHEN former_title IS DISTINCT FROM title
        THEN jsonb_build_object('title', jsonb_build_array(former_title, title)) ELSE '{}' END
    FROM changed
  )
  SELECT ${contacts.columns} FROM changed`;

/** An update with its history beside the same UPDATE without, one after the other on one connection. */
export const historyOfUpdates: ScaleScenario = {
  name: 'history',
  run: async (bench) => {
    const { database, large, options } = bench;
    const amount = options.smoke ? SMOKE_UPDATES : UPDATES;
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM tenant_crm.contacts WHERE tenant_id = $1 AND deleted_at IS NULL
       ORDER BY md5(id::text) LIMIT $2`,
      [large.tenantId, amount],
    );
    const client = await database.connect();
    let updates = 0;
    const side =
      (name: string, text: string): (() => Promise<Load>) =>
      async () => {
        const latencies: number[] = [];
        const before = await bench.databaseCpu();
        const started = performance.now();
        for (const { id } of rows) {
          updates += 1;
          const sent = performance.now();
          const values = [large.tenantId, id, `Title ${updates}`, new Date()];
          await client.query({ name, text, values });
          latencies.push(performance.now() - sent);
        }
        return {
          rate: rows.length / ((performance.now() - started) / 1000),
          p50: median(latencies),
          p99: percentile(latencies, 0.99),
          databaseCpu: (1000 * ((await bench.databaseCpu()) - before)) / rows.length,
          statuses: {},
          errors: 0,
        };
      };
    try {
      const [subject, floor] = [side('with', WITH_HISTORY), side('without', PLAIN)];
      await alternate(1, subject, floor);
      const measured = await alternate(options.smoke ? 1 : ROUNDS, subject, floor);
      return [
        {
          what: 'update of a contact with history',
          ...measured,
          target: { text: `≥ ${1 / MAX_SHARE}`, isMet: measured.ratio >= 1 / MAX_SHARE },
          remark: 'statements of CRM through pg on one connection, with and without the history',
        },
      ];
    } finally {
      client.release();
    }
  },
};
