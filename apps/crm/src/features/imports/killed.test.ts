import { type ServiceProcess, spawnService, until } from '@tessera/local-stack';
import { IdentityStandIn } from '@tessera/resource-server/testing';
import { crmDatabase, startCrm, testEnvironment } from '../../testing/crm.ts';

const running: ServiceProcess[] = [];
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

test('An import goes on elsewhere when its process is killed, and no row becomes two contacts', async () => {
  const identity = await new IdentityStandIn().start();
  const databaseUrl = await crmDatabase();
  const killed = spawnService('crm', {
    ...testEnvironment(databaseUrl, identity.url),
    LOG_LEVEL: 'info',
  });
  running.push(killed);
  const url = await killed.ready();
  const { headers } = identity.signIn({ policies: [{ action: '*', effect: 'allow' }] });
  const form = new FormData();
  form.append('resource', 'contacts');
  const rows = Array.from({ length: 15_000 }, (_none, n) => `Ada ${n}`);
  form.append('file', new Blob([`first_name\n${rows.join('\n')}\n`], { type: 'text/csv' }));
  const sent = await fetch(`${url}/api/crm/imports`, { method: 'POST', headers, body: form });
  expect(sent.status).toBe(201);
  const { data } = (await sent.json()) as { data: { id: string } };
  const crmPath = `${url}/api/crm/imports/${data.id}`;
  await until(async () => {
    const { data: found } = (await (await fetch(crmPath, { headers })).json()) as {
      data: { rows_read: number };
    };
    return found.rows_read > 0;
  });
  killed.child.kill('SIGKILL');
  await killed.ended;

  const crm = await startCrm({ DATABASE_URL: databaseUrl, IDENTITY_URL: identity.url });
  const { pool } = crm.context;
  const counts = async () => {
    const { rows: found } = await pool.query(
      `SELECT i.status, i.rows_read, i.rows_created,
         (SELECT count(*)::int FROM tenant_crm.contacts c WHERE c.tenant_id = i.tenant_id) AS contacts,
         (SELECT count(DISTINCT first_name)::int FROM tenant_crm.contacts c
          WHERE c.tenant_id = i.tenant_id) AS names,
         (SELECT count(*)::int FROM tenant_crm.import_chunks) AS chunks
       FROM tenant_crm.imports i WHERE id = $1`,
      [data.id],
    );
    return found[0];
  };
  const atKill = await counts();
  expect(atKill).toMatchObject({ status: 'running', contacts: atKill.rows_created });
  expect(atKill.rows_read).toBeLessThan(15_000);
  await until(async () => {
    const { rows: jobs } = await pool.query(
      "SELECT retry_count FROM crm_jobs.job WHERE name = 'import' AND retry_count > 0",
    );
    return jobs.length > 0;
  });
  await until(async () => (await counts()).status !== 'running');
  expect(await counts()).toEqual({
    status: 'completed',
    rows_read: 15_000,
    rows_created: 15_000,
    contacts: 15_000,
    names: 15_000,
    chunks: 0,
  });
  await crm.stop();
  await identity.stop();
});
