import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Postgres, startPostgres, until } from '@tessera/local-stack';
import pg from 'pg';
import { startCrm, type TestCrm } from './testing/crm.ts';

const run = promisify(execFile);
const binaries = process.env.TEST_POSTGRES_BINARIES as string;

let home: string;
const started: { stop(): Promise<unknown> }[] = [];
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tessera-restore-'));
  // The account that runs the servers must have access to the directory.
  await run('chmod', ['755', home]);
});
afterAll(async () => {
  for (const one of started.reverse()) await one.stop();
  await rm(home, { recursive: true, force: true });
});

const keep = <T extends { stop(): Promise<unknown> }>(one: T): T => {
  started.push(one);
  return one;
};
const stop = async (one: { stop(): Promise<unknown> }): Promise<void> => {
  started.splice(started.indexOf(one), 1);
  await one.stop();
};
const ask = async (url: string, query: string): Promise<Record<string, unknown>> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(query)).rows[0];
  } finally {
    await client.end();
  }
};

/** A server that copies each finished segment of its log to the archive. */
const startArchiving = async (archive: string): Promise<Postgres> => {
  const directory = join(home, 'primary');
  await mkdir(archive, { mode: 0o777 });
  await run('chmod', ['777', archive]);
  return keep(
    await startPostgres({
      directory,
      binaries,
      settings: {
        archive_mode: 'on',
        archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
      },
    }),
  );
};

/** Copies the files of the running server, as a nightly backup does. */
const backUp = async (primary: Postgres, target: string): Promise<void> => {
  await mkdir(target);
  await run(join(binaries, 'pg_basebackup'), [
    `--dbname=${primary.url('postgres')}`,
    `--pgdata=${join(target, 'data')}`,
    '--checkpoint=fast',
    '--wal-method=none',
  ]);
  await copyFile(join(primary.directory, 'password'), join(target, 'password'));
};

/** Starts a server on the backup, which reads the archive up to the time. */
const restore = async (target: string, archive: string, time: string): Promise<Postgres> => {
  await writeFile(join(target, 'data', 'recovery.signal'), '');
  // The backup belongs to the user who made it.
  await run('chown', ['-R', `--reference=${join(home, 'primary')}`, target]);
  const restored = keep(
    await startPostgres({
      directory: target,
      binaries,
      settings: {
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_time: time,
        recovery_target_action: 'promote',
      },
    }),
  );
  const isRecovering = 'SELECT pg_is_in_recovery() AS recovering';
  await until(async () => !(await ask(restored.url('postgres'), isRecovering)).recovering);
  return restored;
};

const create = async (crm: TestCrm, headers: Record<string, string>, name: string) => {
  const contact = { first_name: name };
  const { body } = await crm.http.post('/api/crm/contacts').set(headers).send(contact).expect(201);
  return body.data.id as string;
};

test('CRM works on its database as it was before a mistake, without what came later', async () => {
  const archive = join(home, 'archive');
  const primary = await startArchiving(archive);
  const url = await primary.createDatabase('crm');
  const crm = keep(await startCrm({ DATABASE_URL: url }));
  const headers = crm.caller();
  const kept = [await create(crm, headers, 'Before the backup')];
  const backup = join(home, 'restored');
  await backUp(primary, backup);
  kept.push(await create(crm, headers, 'After the backup'));
  await crm.http.put(`/api/crm/contacts/${kept[0]}`).set(headers).send({ title: 'Dr' }).expect(200);

  const { time } = await ask(url, 'SELECT clock_timestamp()::text AS time');
  await ask(url, 'DELETE FROM tenant_crm.contacts');
  const later = await create(crm, headers, 'After the mistake');
  // The last segment is archived when it is full, or when the server begins another one.
  const { segment } = await ask(url, 'SELECT pg_walfile_name(pg_switch_wal()) AS segment');
  await until(async () => {
    const state = await ask(url, 'SELECT last_archived_wal AS wal FROM pg_stat_archiver');
    return typeof state.wal === 'string' && state.wal >= String(segment);
  });
  await stop(crm);
  await stop(primary);

  const begun = Date.now();
  const restored = await restore(backup, archive, String(time));
  const again = keep(await startCrm({ DATABASE_URL: restored.url('crm') }));
  const tenant = crm.identity.acme;
  const caller = again.caller({ tenants: [tenant] });
  const { body } = await again.http.get('/api/crm/contacts').set(caller).expect(200);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  process.stdout.write(`Restored and served again after ${seconds} s.\n`);

  expect(body.data.map(({ id }: { id: string }) => id).sort()).toEqual([...kept].sort());
  expect(body.meta.total).toBe(2);
  const first = await again.http.get(`/api/crm/contacts/${kept[0]}`).set(caller).expect(200);
  expect(first.body.data).toMatchObject({ title: 'Dr' });
  expect(first.headers.etag).toBe('"2"');
  await again.http.get(`/api/crm/contacts/${later}`).set(caller).expect(404);
  await create(again, caller, 'After the restore');
});
