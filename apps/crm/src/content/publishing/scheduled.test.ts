import { randomUUID } from 'node:crypto';
import { until } from '@tessera/local-stack';
import {
  type EventSource,
  newTenant,
  type Person,
  refusal,
  startEvents,
} from '@tessera/resource-server/testing';
import type { AffectedWork } from '../../absent-callers/access-events.ts';
import { startCrm, type TestCrm } from '../../testing/crm.ts';
import {
  affectedPublications,
  REVIEWED,
  type WaitingPublication,
} from './publications.repository.ts';

let events: EventSource;
let crm: TestCrm;
let ada: Person;
let acme: ReturnType<typeof newTenant>;
beforeAll(async () => {
  events = await startEvents();
});
afterAll(() => events.stop());
afterEach(() => crm.stop());

const posts = '/api/crm/blog-posts';
const everything = [{ action: 'tenant.*.crm.*.*', effect: 'allow' as const }].concat({
  action: 'tenant.*.crm.*.*.*',
  effect: 'allow',
});
const noPublishing = [
  ...everything,
  { action: 'tenant.*.crm.blog.posts.publish', effect: 'deny' as const },
];

const signIn = (more: object = {}): Person =>
  crm.identity.signIn({ tenants: [acme], policies: everything, ...more });

const start = async (environment: Record<string, string> = {}): Promise<void> => {
  crm = await startCrm(environment);
  if (environment.KAFKA_BROKERS) await until(() => crm.context.access.stream() === 'connected');
  acme = newTenant('acme');
  ada = signIn();
};
const startWithEvents = () => start({ KAFKA_BROKERS: events.brokers.join(',') });

const HOUR_MS = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * HOUR_MS).toISOString();

/** Creates a post and schedules its publication in an hour. */
const schedule = async (by: Person): Promise<string> => {
  const { body } = await crm.http
    .post(posts)
    .set(ada.headers)
    .send({ title: `Title ${randomUUID()}` })
    .expect(201);
  const post = `${posts}/${body.data.id}`;
  await crm.http
    .post(`${post}/publish`)
    .set(by.headers)
    .send({ publish_at: inHours(1) })
    .expect(200);
  return post;
};

const JOBS = "crm_jobs.job WHERE name = 'scheduled_publication' AND state <> 'completed'";

/** Makes the publications that are due in about an hour due now. */
const letAnHourPass = async (): Promise<void> => {
  await crm.context.pool.query(
    `UPDATE crm_jobs.job SET start_after = now()
     WHERE name = 'scheduled_publication' AND start_after < now() + interval '90 minutes'`,
  );
};

/** A post, and so on, as somebody who keeps all permissions sees it. */
const read = async (path: string) =>
  (await crm.http.get(path).set(signIn().headers).expect(200)).body.data;
const becomes = (post: string, status: string) =>
  until(async () => (await read(post)).status === status);
/** The last row of the activity log about a record. */
const lastActivity = async (post: string) => {
  const id = post.split('/').at(-1);
  const [last] = await read(`/api/crm/activity?per_page=1&resource_id=${id}`);
  return last;
};

test('A scheduled record is published at its time, as it is then, in the name of who scheduled it', async () => {
  await start();
  const administrator = signIn({ is_system_admin: true });
  const impersonated = signIn({ id: ada.id, impersonator_id: administrator.id });
  const post = await schedule(impersonated);
  const { scheduled_at } = await read(post);
  const { rows } = await crm.context.pool.query(`SELECT start_after FROM ${JOBS}`);
  expect(rows).toEqual([{ start_after: new Date(scheduled_at) }]);
  await crm.http.put(post).set(signIn().headers).send({ title: 'The last title' }).expect(200);
  await letAnHourPass();
  await becomes(post, 'published');
  expect(await read(post)).toMatchObject({
    title: 'The last title',
    published_at: expect.any(String),
    scheduled_at: null,
  });
  const actor = { actor_type: 'user', user_id: ada.id, impersonator_id: administrator.id };
  expect(await lastActivity(post)).toMatchObject({
    ...actor,
    action: 'published',
    details: { status_before: 'scheduled', scheduled_at },
  });
  const [change] = await read(`${post}/history`);
  expect(change).toMatchObject({ ...actor, action: 'publish' });
});

test('A publication that was moved, cancelled or deleted does not happen at its former time', async () => {
  await start();
  const moved = await schedule(ada);
  const cancelled = await schedule(ada);
  const deleted = await schedule(ada);
  const later = inHours(2);
  const as = (path: string) => crm.http.post(path).set(ada.headers);
  await as(`${moved}/publish`).send({ publish_at: later }).expect(200);
  await as(`${cancelled}/unpublish`).expect(200);
  await crm.http.delete(deleted).set(ada.headers).expect(204);
  await as(`${deleted}/restore`).expect(200);
  await letAnHourPass();
  // Only the job of the later time is left.
  await until(async () => {
    const { rows } = await crm.context.pool.query(`SELECT start_after FROM ${JOBS}`);
    return rows.length === 1;
  });
  expect(await read(moved)).toMatchObject({ status: 'scheduled', scheduled_at: later });
  expect((await read(cancelled)).status).toBe('draft');
  expect((await read(deleted)).status).toBe('draft');
});

test('Whoever schedules the same time again takes the publication over', async () => {
  await start();
  const bob = signIn();
  const post = await schedule(ada);
  const { scheduled_at: publish_at } = await read(post);
  const again = (by: Person) =>
    crm.http.post(`${post}/publish`).set(by.headers).send({ publish_at }).expect(200);
  const { body: own } = await again(signIn({ id: ada.id }));
  expect(own.data.scheduled_at).toBe(publish_at);
  expect((await read(`${post}/history`)).length).toBe(2);
  await again(bob);
  expect(await lastActivity(post)).toMatchObject({ action: 'scheduled', user_id: bob.id });
  crm.identity.setPolicies(ada, noPublishing);
  await letAnHourPass();
  await becomes(post, 'published');
  expect(await lastActivity(post)).toMatchObject({ action: 'published', user_id: bob.id });
});

describe('A publication is dropped', () => {
  const dropped = { status: 'draft', published_at: null, scheduled_at: null };

  const expectDropped = async (post: string, reason: string): Promise<void> => {
    await becomes(post, 'draft');
    expect(await read(post)).toMatchObject(dropped);
    expect(await lastActivity(post)).toMatchObject({
      action: 'publication_dropped',
      actor_type: 'system',
      user_id: null,
      details: { reason, scheduled_by: ada.id },
    });
    const [change] = await read(`${post}/history`);
    expect(change).toMatchObject({ action: 'drop_publication', actor_type: 'system' });
  };

  test('when an event says that its scheduler lost the permission; those of others are not', async () => {
    await startWithEvents();
    const bob = signIn();
    const [post, other] = [await schedule(ada), await schedule(bob)];
    const version = crm.identity.setPolicies(ada, noPublishing);
    await events.publish('identity.policy.updated', {
      tenant_id: acme.id,
      version,
      user_ids: null,
    });
    await expectDropped(post, 'permission_lost');
    expect((await read(other)).status).toBe('scheduled');
  });

  test('when its scheduler is deactivated, or the administrator who acted as them', async () => {
    await startWithEvents();
    const administrator = signIn({ is_system_admin: true });
    const impersonated = signIn({ id: ada.id, impersonator_id: administrator.id });
    const post = await schedule(impersonated);
    crm.identity.remove(administrator);
    await events.publish('identity.user.deactivated', { user_id: administrator.id });
    await expectDropped(post, 'permission_lost');
  });

  test('at its time, if no event said that its scheduler lost the permission', async () => {
    await start();
    const post = await schedule(ada);
    crm.identity.setPolicies(ada, noPublishing);
    await letAnHourPass();
    await expectDropped(post, 'permission_lost');
  });
});

test('A change of other permissions leaves a publication scheduled', async () => {
  await startWithEvents();
  const bob = signIn();
  const [kept, lost] = [await schedule(ada), await schedule(bob)];
  crm.identity.setPolicies(ada, [
    ...everything,
    { action: 'tenant.*.crm.tasks.delete', effect: 'deny' },
  ]);
  const version = crm.identity.setPolicies(bob, noPublishing);
  await events.publish('identity.policy.updated', { tenant_id: acme.id, version, user_ids: null });
  await becomes(lost, 'draft');
  expect((await read(kept)).status).toBe('scheduled');
});

test('A publication waits while identity does not answer', async () => {
  await start();
  crm.identity.intercept('rights', () => refusal(500, 'internal_error'));
  const asked = crm.identity.rightsRequests;
  const post = await schedule(ada);
  await letAnHourPass();
  await until(() => crm.identity.rightsRequests > asked);
  expect((await read(post)).status).toBe('scheduled');
  crm.identity.restore();
  await becomes(post, 'published');
});

test('The publications of a suspended tenant wait until it is active again', async () => {
  await startWithEvents();
  const bob = signIn();
  const [post, deactivated] = [await schedule(ada), await schedule(bob)];
  crm.identity.suspend(acme.id);
  await events.publish('identity.tenant.status_changed', {
    tenant_id: acme.id,
    status: 'suspended',
  });
  crm.identity.remove(bob);
  await events.publish('identity.user.deactivated', { user_id: bob.id });
  await letAnHourPass();
  const { pool } = crm.context;
  await until(async () => {
    const { rows } = await pool.query(
      `SELECT FROM ${JOBS} AND start_after > now() + interval '10 minutes'`,
    );
    return rows.length === 2;
  });
  const { rows } = await pool.query(
    'SELECT status FROM tenant_crm.blog_posts WHERE tenant_id = $1',
    [acme.id],
  );
  expect(rows).toEqual([{ status: 'scheduled' }, { status: 'scheduled' }]);
  crm.identity.suspend(acme.id, false);
  await events.publish('identity.tenant.status_changed', { tenant_id: acme.id, status: 'active' });
  await until(async () => (await crm.http.get(post).set(signIn().headers)).status === 200);
  await letAnHourPass();
  await becomes(post, 'published');
  await becomes(deactivated, 'draft');
  expect((await lastActivity(deactivated)).details.reason).toBe('permission_lost');
});

test('Nothing is scheduled if CRM cannot ask identity later; publishing now works', async () => {
  await start({ IDENTITY_CLIENT_ID: '', IDENTITY_CLIENT_SECRET: '' });
  const as = (path: string) => crm.http.post(path).set(ada.headers);
  const { body } = await as(posts).send({ title: 'A' }).expect(201);
  const post = `${posts}/${body.data.id}`;
  const refused = await as(`${post}/publish`)
    .send({ publish_at: inHours(1) })
    .expect(503);
  expect(refused.body.error).toBe('identity_client_not_configured');
  expect((await read(post)).status).toBe('draft');
  await as(`${post}/publish`).expect(200);
});

test('An event reviews only the publications that it concerns, in batches', async () => {
  await start();
  const globex = newTenant('globex');
  const { pool, database } = crm.context;
  const count = 2 * REVIEWED + 1;
  const scheduler = randomUUID();
  await pool.query(
    `INSERT INTO tenant_crm.scheduled_publications
       (tenant_id, content_id, schedule_id, table_name, publish_at, principal)
     SELECT tenant, gen_random_uuid(), gen_random_uuid(), 'pages', now(),
       jsonb_build_object('type', 'user', 'id', CASE WHEN n % 2 = 0 THEN $3 ELSE gen_random_uuid()::text END)
     FROM unnest($1::uuid[]) AS tenant, generate_series(1, $2::int) AS n`,
    [[acme.id, globex.id], count, scheduler],
  );
  const read = async (affected: AffectedWork) => {
    const batches: (readonly WaitingPublication[])[] = [];
    for await (const batch of affectedPublications(database, affected)) batches.push(batch);
    return batches;
  };
  const ofTenant = await read({ tenantId: acme.id, userIds: null });
  expect(ofTenant.map(({ length }) => length)).toEqual([REVIEWED, REVIEWED, 1]);
  expect(new Set(ofTenant.flat().map(({ tenant_id }) => tenant_id))).toEqual(new Set([acme.id]));
  const ofUser = await read({ tenantId: acme.id, userIds: [scheduler] });
  expect(ofUser.map(({ length }) => length)).toEqual([REVIEWED]);
  const anywhere = (await read({ scheduler })).flat();
  expect(new Set(anywhere.map(({ content_id }) => content_id)).size).toBe(2 * REVIEWED);
  expect(new Set(anywhere.map(({ principal }) => principal.id))).toEqual(new Set([scheduler]));
});
