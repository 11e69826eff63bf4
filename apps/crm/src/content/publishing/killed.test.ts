import { type ServiceProcess, spawnService, until } from '@tessera/local-stack';
import { IdentityStandIn } from '@tessera/resource-server/testing';
import { crmDatabase, startCrm, testEnvironment } from '../../testing/crm.ts';

const running: ServiceProcess[] = [];
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

const POSTS = 60;

test('Records whose publication is due when a process is killed are published once, by one of the others', async () => {
  const identity = await new IdentityStandIn().start();
  const databaseUrl = await crmDatabase();
  const killed = spawnService('crm', {
    ...testEnvironment(databaseUrl, identity.url),
    LOG_LEVEL: 'info',
  });
  running.push(killed);
  const url = await killed.ready();
  const crm = await startCrm({ DATABASE_URL: databaseUrl, IDENTITY_URL: identity.url });
  const { pool } = crm.context;
  const { headers, id } = identity.signIn({ policies: [{ action: '*', effect: 'allow' }] });
  const send = async (path: string, body: object): Promise<string> => {
    const answer = await fetch(`${url}/api/crm/blog-posts${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.ok).toBe(true);
    return ((await answer.json()) as { data: { id: string } }).data.id;
  };
  const publish_at = new Date(Date.now() + 3_600_000).toISOString();
  for (let n = 0; n < POSTS; n += 1) {
    const post = await send('', { title: `Post ${n}` });
    await send(`/${post}/publish`, { publish_at });
  }
  const published = async (): Promise<number> => {
    const { rowCount } = await pool.query(
      "SELECT FROM tenant_crm.blog_posts WHERE status = 'published'",
    );
    return rowCount ?? 0;
  };
  expect(await published()).toBe(0);
  await pool.query(
    "UPDATE crm_jobs.job SET start_after = now() WHERE name = 'scheduled_publication'",
  );
  await until(async () => (await published()) > 0);
  killed.child.kill('SIGKILL');
  await killed.ended;
  await until(async () => (await published()) === POSTS);
  // Jobs that were interrupted after their commit run again, and do nothing.
  await until(async () => {
    const { rowCount } = await pool.query(
      "SELECT FROM crm_jobs.job WHERE name = 'scheduled_publication' AND state <> 'completed'",
    );
    return rowCount === 0;
  });
  const { rows } = await pool.query(
    `SELECT count(*)::int AS rows, count(DISTINCT resource_id)::int AS posts,
       count(*) FILTER (WHERE user_id = $1)::int AS own
     FROM tenant_crm.activities WHERE action = 'published'`,
    [id],
  );
  expect(rows[0]).toEqual({ rows: POSTS, posts: POSTS, own: POSTS });
  const { rows: changes } = await pool.query(
    `SELECT count(*)::int AS changes FROM tenant_crm.record_changes WHERE action = 'publish'`,
  );
  expect(changes[0]).toEqual({ changes: POSTS });
  await crm.stop();
  await identity.stop();
});
