import { handleJob, type JobHandler } from '@tessera/background-work/jobs';
import type { Logger } from '@tessera/http-kit';
import type { PublicHttp } from '@tessera/outbound-http';
import type { Database, TenantDb } from '../../database.ts';
import { type AttemptResult, attempt, notSent } from './attempt.ts';
import { type Outcome, saveAttempt } from './attempts.repository.ts';
import type { BulkChanges } from './bulk-jobs.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  nextDue,
  releaseNext,
} from './claims.repository.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import {
  type DisabledReason,
  disableEndpoint,
  forgetFailures,
  lockEndpoint,
  noteFailure,
  noteRun,
} from './endpoints.repository.ts';
import type { WebhookMetrics } from './metrics.ts';
import { restartRetries } from './restarted-retries.ts';
import { RETRY_MS, retryDelay } from './retry-schedule.ts';
import { createTenantTurns } from './tenant-turns.ts';
import { deliveryJob, type Wake } from './wake.ts';

/** After this time, a job leaves the rest to another one, so that busy endpoints take turns. */
const TURN_MS = 5000;
/** An endpoint whose requests all failed for this time is disabled when a delivery fails for good. */
const LONG_FAILURE_MS = 48 * 3_600_000;

/** How long the endpoints of a suspended tenant wait until they are asked about again. */
const SUSPENDED_MS = 15 * 60_000;
/** The same while identity does not say whether the tenant is active. */
const UNKNOWN_MS = 60_000;
/** How long an endpoint waits while its tenant has no turn left. */
const NO_TURN_MS = 2000;
const UNREADABLE_SECRET =
  'The signing secret cannot be decrypted. Replace it, or ask the operator for the encryption key.';

/** What sending needs. */
export interface DeliveryDependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly http: Pick<PublicHttp, 'request'>;
  readonly secrets: EndpointSecrets;
  readonly wake: Wake;
  readonly bulk: Pick<BulkChanges, 'stop'>;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
  /** Whether a tenant is active. Rejects if that is unknown. */
  readonly isActive: (tenantId: string) => Promise<boolean>;
  /** Enqueues the mail about an endpoint that was disabled, in the same transaction. */
  readonly announceDisabled: (db: TenantDb, endpointId: string) => Promise<void>;
}

/** What becomes of a delivery, from the result of an attempt. */
export const outcomeOf = (
  { round, expires_at: expiresAt }: Pick<ClaimedDelivery, 'round' | 'expires_at'>,
  { status, error, retryAfterMs }: Pick<AttemptResult, 'status' | 'error' | 'retryAfterMs'>,
  now = Date.now(),
): Outcome => {
  if (error === null) return { state: 'succeeded', delayMs: 0 };
  const delayMs = retryDelay(round + 1, retryAfterMs);
  const isOver = status === 410 || now + delayMs > expiresAt.getTime();
  return { state: isOver ? 'failed' : 'pending', delayMs };
};

/** Whether an endpoint is disabled after a failed attempt, given since when all attempts have failed. */
export const reasonToDisable = (
  status: number | null,
  { state }: Pick<Outcome, 'state'>,
  failingSince: Date | undefined,
  now = Date.now(),
): DisabledReason | undefined => {
  if (status === 410) return 'gone';
  if (!failingSince) return undefined;
  const failingMs = now - failingSince.getTime();
  const isLong = failingMs >= RETRY_MS || (state === 'failed' && failingMs >= LONG_FAILURE_MS);
  return isLong ? 'failing' : undefined;
};

/** Sends an endpoint's deliveries until none is due, or its turn is over. */
export const deliverDue = async (
  { database, http, secrets, wake, bulk, metrics, logger, announceDisabled }: DeliveryDependencies,
  { tenantId, endpointId }: { readonly tenantId: string; readonly endpointId: string },
  { signal, stopping }: { readonly signal: AbortSignal; readonly stopping: AbortSignal },
): Promise<void> => {
  const db = database.forTenant(tenantId);

  const conclude = (delivery: ClaimedDelivery, result: AttemptResult): Promise<void> =>
    db.transaction(async (tx) => {
      await lockEndpoint(tx, endpointId);
      const outcome = outcomeOf(delivery, result);
      const reason =
        result.error === null
          ? await forgetFailures(tx, endpointId)
          : reasonToDisable(result.status, outcome, await noteFailure(tx, endpointId));
      await saveAttempt(tx, delivery, result, outcome);
      if (outcome.state !== 'pending') await releaseNext(tx, endpointId, delivery);
      metrics.attempted(outcome.state, result.durationMs);
      if (!reason || !(await disableEndpoint(tx, endpointId, reason))) return;
      await bulk.stop(tx, endpointId, 'The endpoint was disabled.');
      await announceDisabled(tx, endpointId);
    });

  const openSecrets = ({ sealed_secrets }: ClaimedDelivery): readonly string[] | undefined => {
    try {
      return secrets.open(endpointId, sealed_secrets, new Date());
    } catch (err) {
      logger.error({ err, tenantId, endpointId }, 'the secret of a webhook cannot be decrypted');
      return undefined;
    }
  };

  const send = async (delivery: ClaimedDelivery): Promise<void> => {
    const { event_id: id, url, payload } = delivery;
    const opened = openSecrets(delivery);
    const result =
      opened === undefined
        ? notSent(UNREADABLE_SECRET)
        : await attempt(http, { id, url, payload, secrets: opened }, signal);
    // What was aborted is not the receiver's failure: another process sends it after the lease.
    if (signal.aborted) throw signal.reason;
    await conclude(delivery, result);
  };

  await noteRun(db, endpointId);
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  const end = Date.now() + TURN_MS;
  const mayClaim = (): boolean => Date.now() < end && !stopping.aborted && errors.length === 0;
  for (;;) {
    const claimed = mayClaim() ? await claimDeliveries(db, endpointId) : [];
    for (const delivery of claimed) {
      const sent: Promise<void> = send(delivery)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(sent));
      running.add(sent);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  await db.transaction(async (tx) => {
    const next = await nextDue(tx, endpointId);
    if (next) await wake(tx, endpointId, next);
  });
  if (errors.length > 0) throw errors[0];
};

/** Whether a tenant is active; undefined if that is not known. */
const activityOf = async (
  { isActive, logger }: Pick<DeliveryDependencies, 'isActive' | 'logger'>,
  tenantId: string,
): Promise<boolean | undefined> => {
  try {
    return await isActive(tenantId);
  } catch (err) {
    logger.warn({ err, tenantId }, 'webhooks wait: it is not known whether the tenant is active');
    return undefined;
  }
};

/** The handler of the job. */
export const deliveryHandler = (dependencies: DeliveryDependencies): JobHandler => {
  const turns = createTenantTurns();
  const putOff = ({ tenant_id, endpoint_id }: DeliveryPayload, delayMs: number): Promise<void> =>
    dependencies.database.forTenant(tenant_id).transaction(async (tx) => {
      await noteRun(tx, endpoint_id);
      await dependencies.wake(tx, endpoint_id, new Date(Date.now() + delayMs));
    });
  return handleJob(deliveryJob, async (payload, run) => {
    const { tenant_id: tenantId, endpoint_id: endpointId } = payload;
    const isActive = await activityOf(dependencies, tenantId);
    if (isActive === undefined) return putOff(payload, UNKNOWN_MS);
    if (!isActive) {
      await restartRetries(dependencies.database.forTenant(tenantId), endpointId, run.stopping);
      return putOff(payload, SUSPENDED_MS);
    }
    const deliver = () => deliverDue(dependencies, { tenantId, endpointId }, run);
    if (await turns.run(tenantId, deliver)) return;
    await putOff(payload, NO_TURN_MS);
  });
};

interface DeliveryPayload {
  readonly tenant_id: string;
  readonly endpoint_id: string;
}
