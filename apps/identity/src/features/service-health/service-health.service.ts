import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Crm } from '../../crm/crm.ts';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';

export type Health = 'up' | 'down' | 'not_configured';

export interface ServiceHealth {
  readonly name: 'database' | 'event_relay' | 'crm' | 'deployment_automation';
  readonly status: Health;
  /** How long the answer took, in milliseconds; null where nothing was asked. */
  readonly latency_ms: number | null;
}

interface Dependencies {
  readonly pool: Pool;
  readonly crm: Crm;
  readonly automation: DeploymentAutomation;
  readonly hasBroker: boolean;
}

/** A part that has not answered by then is down. */
const PATIENCE_MS = 2000;

/** An event that has waited for so long is one that nobody publishes. */
const LONGEST_WAIT = '10 seconds';

const check = async (
  name: ServiceHealth['name'],
  isUp: () => Promise<boolean>,
): Promise<ServiceHealth> => {
  const begun = performance.now();
  const over = new AbortController();
  const late = pause(PATIENCE_MS, false, { signal: over.signal }).catch(() => false);
  const status = (await Promise.race([isUp().catch(() => false), late])) ? 'up' : 'down';
  over.abort();
  return { name, status, latency_ms: Math.round(performance.now() - begun) };
};

const none = async (name: ServiceHealth['name']): Promise<ServiceHealth> => ({
  name,
  status: 'not_configured',
  latency_ms: null,
});

/** Asks everything that identity works with, all at once and for two seconds at most. */
export const serviceHealth = ({
  pool,
  crm,
  automation,
  hasBroker,
}: Dependencies): Promise<ServiceHealth[]> => {
  const answers = async (): Promise<boolean> => (await pool.query('SELECT 1')).rowCount === 1;
  const relays = async (): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `SELECT FROM identity.outbox
       WHERE published_at IS NULL AND created_at < now() - $1::interval LIMIT 1`,
      [LONGEST_WAIT],
    );
    return rowCount === 0;
  };
  return Promise.all([
    check('database', answers),
    hasBroker ? check('event_relay', relays) : none('event_relay'),
    crm.isConfigured ? check('crm', () => crm.isReady()) : none('crm'),
    automation.isConfigured
      ? check('deployment_automation', () => automation.isHealthy())
      : none('deployment_automation'),
  ]);
};
