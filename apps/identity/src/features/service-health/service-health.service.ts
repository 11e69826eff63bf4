import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Crm } from '../../crm/crm.ts';
import type { DeploymentAutomation } from '../../deployment-automation/deployment-automation.ts';
import type { MailOutbox } from '../../mail/outbox.ts';

export type Health = 'up' | 'down' | 'not_configured';

export interface ServiceHealth {
  readonly name: 'database' | 'event_relay' | 'mail' | 'crm' | 'deployment_automation';
  readonly status: Health;
  /** Response time in milliseconds; null if nothing was checked. */
  readonly latency_ms: number | null;
}

interface Dependencies {
  readonly pool: Pool;
  readonly crm: Crm;
  readonly automation: DeploymentAutomation;
  readonly hasBroker: boolean;
  readonly mail: Pick<MailOutbox, 'backlog'>;
  readonly sendsMail: boolean;
}

/** A dependency that takes longer is down. */
const TIMEOUT_MS = 2000;

/** The relay is down if an event has waited longer. */
const MAX_EVENT_AGE = '10 seconds';

/** Mail is down if an attempt has been due for longer, in seconds. */
const MAX_MAIL_DELAY = 60;

const check = async (
  name: ServiceHealth['name'],
  isUp: () => Promise<boolean>,
): Promise<ServiceHealth> => {
  const startedAt = performance.now();
  const finished = new AbortController();
  const timeout = pause(TIMEOUT_MS, false, { signal: finished.signal }).catch(() => false);
  const status = (await Promise.race([isUp().catch(() => false), timeout])) ? 'up' : 'down';
  finished.abort();
  return { name, status, latency_ms: Math.round(performance.now() - startedAt) };
};

const notConfigured = async (name: ServiceHealth['name']): Promise<ServiceHealth> => ({
  name,
  status: 'not_configured',
  latency_ms: null,
});

/** Checks all dependencies in parallel, for at most two seconds. */
export const serviceHealth = ({
  pool,
  crm,
  automation,
  hasBroker,
  mail,
  sendsMail,
}: Dependencies): Promise<ServiceHealth[]> => {
  const isDatabaseUp = async (): Promise<boolean> => (await pool.query('SELECT 1')).rowCount === 1;
  const isRelayUp = async (): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `SELECT FROM identity.outbox
       WHERE published_at IS NULL AND created_at < now() - $1::interval LIMIT 1`,
      [MAX_EVENT_AGE],
    );
    return rowCount === 0;
  };
  const isMailUp = async (): Promise<boolean> => (await mail.backlog()).overdue <= MAX_MAIL_DELAY;
  return Promise.all([
    check('database', isDatabaseUp),
    hasBroker ? check('event_relay', isRelayUp) : notConfigured('event_relay'),
    sendsMail ? check('mail', isMailUp) : notConfigured('mail'),
    crm.isConfigured ? check('crm', () => crm.isReady()) : notConfigured('crm'),
    automation.isConfigured
      ? check('deployment_automation', () => automation.isHealthy())
      : notConfigured('deployment_automation'),
  ]);
};
