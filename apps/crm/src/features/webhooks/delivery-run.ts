import { handleJob, type JobHandler, type JobRun } from '@tessera/background-work/jobs';
import type { Logger } from '@tessera/http-kit';
import type { PublicHttp } from '@tessera/outbound-http';
import type { Database, TenantDb } from '../../database.ts';
import { type AttemptResult, attempt, notSent } from './attempt.ts';
import { type EndedAttempt, type Outcome, saveAttempts } from './attempts.repository.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  nextDue,
  releaseNext,
} from './claims.repository.ts';
import type { Disable } from './disabling.ts';
import { withLockedEndpoint } from './endpoint-lock.ts';
import type { EndpointSecrets } from './endpoint-secrets.ts';
import {
  type DisabledReason,
  forgetFailures,
  noteFailure,
  noteRun,
} from './endpoints.repository.ts';
import type { WebhookMetrics } from './metrics.ts';
import { restartRetries } from './restarted-retries.ts';
import { RETRY_MS, retryDelay } from './retry-schedule.ts';
import { deliveryJob, type Wake } from './wake.ts';

/** After this time, a job leaves the rest to another one, so that busy endpoints take turns. */
const TURN_MS = 5000;
/** An endpoint whose requests all failed for this time is disabled when a delivery fails for good. */
const LONG_FAILURE_MS = 48 * 3_600_000;

/** How long the endpoints of a suspended tenant wait until they are asked about again. */
const SUSPENDED_MS = 15 * 60_000;
/** The same while identity does not say whether the tenant is active. */
const UNKNOWN_MS = 60_000;
const UNREADABLE_SECRET =
  'The signing secret cannot be decrypted. Replace it, or ask the operator for the encryption key.';

/** What sending needs. */
export interface DeliveryDependencies {
  readonly database: Pick<Database, 'forTenant'>;
  readonly http: Pick<PublicHttp, 'request'>;
  readonly secrets: EndpointSecrets;
  readonly wake: Wake;
  readonly disable: Disable;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
  /** Whether a tenant is active. Rejects if that is unknown. */
  readonly isActive: (tenantId: string) => Promise<boolean>;
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

/**
 * Sends an endpoint's deliveries until none is due, or its turn is over. It has one connection at most, and none while it waits for
 * receivers or for the lock of the endpoint: what has ended meanwhile is concluded at once.
 */
export const deliverDue = async (
  { database, http, secrets, wake, metrics, logger, disable }: DeliveryDependencies,
  { tenantId, endpointId }: { readonly tenantId: string; readonly endpointId: string },
  { signal, stopping }: Pick<JobRun, 'signal' | 'stopping'>,
): Promise<void> => {
  const db = database.forTenant(tenantId);

  /** Writes what has become of deliveries. */
  const conclude = async (tx: TenantDb, ended: readonly EndedAttempt[]): Promise<void> => {
    const failed = ended.filter(({ result }) => result.error !== null);
    const hasSucceeded = failed.length < ended.length;
    if (hasSucceeded) await forgetFailures(tx, endpointId);
    const failingSince = hasSucceeded ? undefined : await noteFailure(tx, endpointId);
    await saveAttempts(tx, ended);
    const over = ended.filter(({ outcome }) => outcome.state !== 'pending');
    await releaseNext(
      tx,
      endpointId,
      over.map(({ delivery }) => delivery),
    );
    const [reason] = failed.flatMap(
      ({ result, outcome }) => reasonToDisable(result.status, outcome, failingSince) ?? [],
    );
    if (reason) await disable(tx, endpointId, reason);
  };

  const openSecrets = ({ sealed_secrets }: ClaimedDelivery): readonly string[] | undefined => {
    try {
      return secrets.open(endpointId, sealed_secrets, new Date());
    } catch (err) {
      logger.error({ err, tenantId, endpointId }, 'the secret of a webhook cannot be decrypted');
      return undefined;
    }
  };

  const send = async (delivery: ClaimedDelivery): Promise<EndedAttempt> => {
    const { event_id: id, url, payload } = delivery;
    const opened = openSecrets(delivery);
    const result =
      opened === undefined
        ? notSent(UNREADABLE_SECRET)
        : await attempt(http, { id, url, payload, secrets: opened }, signal);
    // What was aborted is not the receiver's failure: another process sends it after the lease.
    if (signal.aborted) throw signal.reason;
    return { delivery, result, outcome: outcomeOf(delivery, result) };
  };

  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  let ended: EndedAttempt[] = [];
  let isFirst = true;
  const end = Date.now() + TURN_MS;
  const mayClaim = (): boolean => Date.now() < end && !stopping.aborted && errors.length === 0;
  /** Concludes what has ended, and takes what can be sent next. */
  const proceed = async (): Promise<readonly ClaimedDelivery[]> => {
    const concluded = ended;
    ended = [];
    if (concluded.length === 0 && !mayClaim()) return [];
    const claimed = await withLockedEndpoint(db, endpointId, async (tx) => {
      if (isFirst) await noteRun(tx, endpointId);
      if (concluded.length > 0) await conclude(tx, concluded);
      return mayClaim() ? claimDeliveries(tx, endpointId) : [];
    });
    isFirst = false;
    for (const { outcome, result } of concluded) {
      metrics.attempted(outcome.state, result.durationMs);
    }
    return claimed;
  };
  for (;;) {
    const claimed = await proceed().catch((error: unknown) => {
      errors.push(error);
      return [];
    });
    for (const delivery of claimed) {
      const sent: Promise<void> = send(delivery)
        .then(
          (one) => void ended.push(one),
          (error: unknown) => void errors.push(error),
        )
        .finally(() => running.delete(sent));
      running.add(sent);
    }
    if (running.size > 0) await Promise.race(running);
    else if (ended.length === 0) break;
  }
  await withLockedEndpoint(db, endpointId, async (tx) => {
    if (isFirst) await noteRun(tx, endpointId);
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

/** The handler of the job. A tenant has at most half of the workers of a replica, as of every kind of job. */
export const deliveryHandler = (dependencies: DeliveryDependencies): JobHandler =>
  handleJob(deliveryJob, async ({ tenant_id: tenantId, endpoint_id: endpointId }, run) => {
    const db = dependencies.database.forTenant(tenantId);
    const putOff = (delayMs: number): Promise<void> =>
      withLockedEndpoint(db, endpointId, async (tx) => {
        await noteRun(tx, endpointId);
        await dependencies.wake(tx, endpointId, new Date(Date.now() + delayMs));
      });
    const isActive = await activityOf(dependencies, tenantId);
    if (isActive === undefined) return putOff(UNKNOWN_MS);
    if (!isActive) {
      await restartRetries(db, endpointId, run.stopping);
      return putOff(SUSPENDED_MS);
    }
    await deliverDue(dependencies, { tenantId, endpointId }, run);
  });
