import { handleJob, type JobHandler, type JobQueue } from '@tessera/background-work/jobs';
import type { CrmPermission, IdentityEvent } from '@tessera/contracts';
import { HttpError, type Logger } from '@tessera/http-kit';
import { type AffectedWork, reviewAffected } from '../../absent-callers/access-events.ts';
import {
  actorFor,
  heldUnlessSuspended,
  type SuspendableRightsSource,
} from '../../absent-callers/current-rights.ts';
import { callerOf } from '../../absent-callers/stored-principal.ts';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { PUBLICATION_ATTEMPTS, publicationJob } from './publication-job.ts';
import {
  affectedPublications,
  deleteScheduled,
  findScheduled,
  type ScheduledPublication,
} from './publications.repository.ts';
import {
  type DropReason,
  type Publishable,
  publishingRules,
  type RuleContext,
  type StateChange,
} from './publishing.rules.ts';

/** How long a publication of a suspended tenant waits until its job runs again. */
const SUSPENDED_MS = 15 * 60_000;

type Rule = (context: RuleContext) => Promise<StateChange>;

/** A kind of record that can be published, and the operation that changes its records. */
export interface PublishedKind extends Publishable {
  readonly records: {
    act(
      caller: Caller,
      id: string,
      action: { readonly name: string; readonly rule: Rule },
      body: unknown,
    ): Promise<unknown>;
  };
}

/** The published kind of a declaration and its records. */
export const publishedKind = (
  { table, resource }: Publishable,
  records: PublishedKind['records'],
): PublishedKind => ({ table, resource, records });

interface Dependencies {
  readonly database: Pick<Database, 'pool' | 'forTenant'>;
  readonly access: SuspendableRightsSource;
  readonly kinds: readonly PublishedKind[];
}

/** CRM itself, which drops publications. */
const system = (tenantId: string): Caller =>
  ({ tenantId, userUuid: null, can: () => true, isInScope: () => true }) as object as Caller;

/** Publishes and drops what was scheduled. */
const createScheduledPublications = ({ access, kinds }: Pick<Dependencies, 'access' | 'kinds'>) => {
  const kindOf = ({ table_name }: ScheduledPublication): PublishedKind => {
    const kind = kinds.find(({ table }) => table === table_name);
    if (!kind) throw new Error(`${table_name} cannot be published.`);
    return kind;
  };

  /** Runs a rule on the record of a publication; without the record, the publication is deleted. */
  const act = async (
    db: TenantDb,
    caller: Caller,
    scheduled: ScheduledPublication,
    name: string,
    ruleOf: (kind: Publishable) => Rule,
  ): Promise<void> => {
    const { content_id: id } = scheduled;
    const kind = kindOf(scheduled);
    const rule = ruleOf(kind);
    await kind.records.act(caller, id, { name, rule }, {}).catch(async (error: unknown) => {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      await deleteScheduled(db, id, scheduled.schedule_id);
    });
  };

  const permissionOf = (scheduled: ScheduledPublication): CrmPermission =>
    `${kindOf(scheduled).resource}.publish` as CrmPermission;

  const rightsOf = (db: TenantDb, scheduled: ScheduledPublication) =>
    heldUnlessSuspended(access, actorFor(db.tenantId, scheduled.principal), [
      permissionOf(scheduled),
    ]);

  const drop = (db: TenantDb, scheduled: ScheduledPublication, reason: DropReason) =>
    act(db, system(db.tenantId), scheduled, 'drop_publication', (kind) =>
      publishingRules(kind).drop(scheduled.schedule_id, reason),
    );

  const publish = (db: TenantDb, scheduled: ScheduledPublication) => {
    const caller = callerOf(db.tenantId, scheduled, [permissionOf(scheduled)]);
    return act(db, caller, scheduled, 'publish', (kind) =>
      publishingRules(kind).publishScheduled(scheduled.schedule_id),
    );
  };

  return { rightsOf, drop, publish };
};

/**
 * The handler of `publicationJob`. It asks for the current rights of who scheduled the publication, and waits while the
 * tenant is suspended, and while identity does not answer, the latter for three days at most.
 */
export const publicationHandler = (
  dependencies: Dependencies & { readonly jobs: Pick<JobQueue, 'enqueue'> },
): JobHandler => {
  const { rightsOf, drop, publish } = createScheduledPublications(dependencies);
  const putOff = (db: TenantDb, { content_id, schedule_id }: ScheduledPublication) =>
    db.transaction(async (tx) => {
      const job = { tenant_id: db.tenantId, content_id, schedule_id };
      await dependencies.jobs.enqueue(tx, publicationJob, job, {
        runAt: new Date(Date.now() + SUSPENDED_MS),
      });
    });
  return handleJob(publicationJob, async ({ tenant_id, content_id, schedule_id }, { attempt }) => {
    const db = dependencies.database.forTenant(tenant_id);
    const scheduled = await findScheduled(db, content_id);
    if (scheduled?.schedule_id !== schedule_id) return;
    const rights = await rightsOf(db, scheduled);
    if (rights.state === 'kept') return publish(db, scheduled);
    if (rights.state === 'lost') return drop(db, scheduled, 'permission_lost');
    if (rights.state === 'suspended') return putOff(db, scheduled);
    if (attempt <= PUBLICATION_ATTEMPTS) throw rights.error;
    await drop(db, scheduled, 'rights_unknown');
  });
};

/**
 * Drops the waiting publications whose schedulers lost the permission to publish by an event. If their
 * rights cannot be verified now, this happens when the publication is due. Those of a suspended tenant wait.
 */
export const dropAffected = async (
  { database, ...dependencies }: Dependencies,
  event: IdentityEvent,
): Promise<void> => {
  if (event.type === 'identity.tenant.status_changed') return;
  const { rightsOf, drop } = createScheduledPublications(dependencies);
  const waiting = (affected: AffectedWork) => affectedPublications(database, affected);
  await reviewAffected(event, waiting, async ({ tenant_id, content_id, schedule_id }) => {
    const db = database.forTenant(tenant_id);
    const scheduled = await findScheduled(db, content_id);
    if (scheduled?.schedule_id !== schedule_id) return;
    if ((await rightsOf(db, scheduled)).state !== 'lost') return;
    await drop(db, scheduled, 'permission_lost');
  });
};

/** The listener for events of identity that drops publications. Every replica may drop the same ones. */
export const publicationAccessListener =
  ({ logger, ...dependencies }: Dependencies & { readonly logger: Logger }) =>
  (event: IdentityEvent): void => {
    dropAffected(dependencies, event).catch((err) =>
      logger.error({ err, event: event.type }, 'publications were not dropped after an event'),
    );
  };
