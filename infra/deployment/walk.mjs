// Follows docs/deployment.md on the copy of this machine created by enter.sh: runs its commands exactly as
// written and verifies their results.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { root } from '../../scripts/bootstrap.mjs';
import { sections } from './document.mjs';
import { plainProcess } from './plain-process.mjs';
import { backups, login, proofs, stillThere, stopsInOrder, units } from './proofs.mjs';
import { openShell } from './shell.mjs';

const { startBroker } = await import(`${root}packages/local-stack/dist/index.js`);
const { platformAsyncapiDocument } = await import(`${root}packages/contracts/dist/index.js`);

const ROWS = 100_000;
const OWNER = { email: 'olivia@example.com', password: 'f2c1b7e0a94d-aA1' };
const TENANT = '01900000-0000-7000-8000-000000000001';

/** A tenant with an owner, as deployment automation would create it. */
const accounts = JSON.stringify({
  tenants: [{ id: TENANT, slug: 'acme', name: 'Acme', plan: 'business' }],
  users: [
    {
      ...OWNER,
      id: '01900000-0000-7000-8000-000000000002',
      first_name: 'Olivia',
      last_name: 'Owner',
      memberships: [{ tenant_slug: 'acme', role: 'owner' }],
    },
  ],
});
const activity = `INSERT INTO identity.activity_entries (id, user_id, tenant_id, action, created_at)
  SELECT gen_random_uuid(), id, '${TENANT}', 'sign_in', now() - interval '1 day'
  FROM identity.users, generate_series(1, ${ROWS}) WHERE email = '${OWNER.email}'`;

/**
 * Starts Debian's PostgreSQL, whose psql and pg_dump the document also uses; returns the password of
 * `postgres`.
 */
const startPostgres = async () => {
  const password = randomBytes(16).toString('hex');
  const file = '/tmp/postgres-password';
  writeFileSync(file, password, { mode: 0o644 });
  const [version] = readdirSync('/usr/lib/postgresql').sort().reverse();
  await promisify(execFile)('pg_createcluster', [
    '--port=5432',
    '--pgoption=fsync=off',
    '--start',
    version,
    'document',
    '--',
    '--auth=scram-sha-256',
    `--pwfile=${file}`,
    '--no-sync',
  ]);
  return password;
};

const step = async (name, run) => {
  const started = Date.now();
  const result = await run();
  console.log(`${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  return result;
};

const [password, broker] = await step('PostgreSQL and a broker', () =>
  Promise.all([startPostgres(), startBroker({ asyncapi: platformAsyncapiDocument(), port: 9092 })]),
);
const shell = openShell({
  PGPASSWORD: password,
  // The copy has no network; the packages are in this machine's store.
  npm_config_offline: 'true',
  pnpm_config_offline: 'true',
  pnpm_config_minimum_release_age: '0',
  pnpm_config_store_dir: process.env.PNPM_STORE,
});
const remaining = sections();
const follow = (heading) => {
  const { heading: next, code } = remaining.shift() ?? {};
  if (next !== heading)
    throw new Error(`The next section of the document is ${next} instead of ${heading}.`);
  return step(heading, () => shell.run(heading, code));
};

/** Verifies that failures are detected. */
const noticesFailure = async () => {
  const planted = openShell({});
  const noticed = await planted.run('planted', 'false\ntrue').then(
    () => false,
    () => true,
  );
  await planted.close();
  if (!noticed) throw new Error('A failing command is not detected');
};

try {
  await step('Failing commands are detected', noticesFailure);
  await follow('Secrets');
  await follow('Services');
  await step('Unit files', units);
  await follow('Proxy');
  await follow('First administrator');
  await follow("CRM's client at identity");
  await follow("CRM's administration program");
  await follow('Verification');
  await step('Accounts and activity', () =>
    shell.run(
      'accounts',
      `identity_admin seed <<< '${accounts}'; sql --dbname=tessera_identity --command="${activity}"`,
    ),
  );
  const { data } = await login(OWNER);
  const known = { owner: { ...OWNER, tenantId: TENANT }, token: data.token, rows: ROWS };
  for (const [name, prove] of Object.entries(proofs)) await step(name, () => prove(known));
  await step('crm-admin finds the file that was uploaded', () =>
    shell.run(
      'crm-admin',
      `crm_admin --json check-files | node -e '
        const { objects, missing_count } = JSON.parse(require("fs").readFileSync(0));
        process.exit(objects > 0 && missing_count === 0 ? 0 : 1)'`,
    ),
  );
  await step('npm run start:identity', plainProcess);
  const active = () => readlinkSync('/opt/tessera/current');
  const first = active();
  await step('a release that cannot be packaged leaves nothing', () =>
    shell.run(
      'failing release',
      `if (npm() { mkdir --parents "$release/identity"; return 1; }; install_release); then false; fi
       test "$(ls -d /opt/tessera/releases/*)" = "$(readlink /opt/tessera/current)"`,
    ),
  );
  await follow('Upgrade');
  if (active() === first) throw new Error('The upgrade has not changed the release');
  await step('after the upgrade', () => stillThere(known));
  await follow('Rollback');
  if (active() !== first) throw new Error('The rollback has not led to the first release');
  await step('after going back', () => stillThere(known));
  await follow('Backup');
  await step('backups', backups);
  await step('stop', stopsInOrder);
  if (remaining.length > 0) throw new Error(`Section not run: ${remaining[0].heading}`);
} catch (error) {
  console.error(
    execFileSync('journalctl', ['--no-pager', '--lines=40', '--output=cat'], { encoding: 'utf8' }),
  );
  throw error;
} finally {
  await shell.close();
  await broker.stop();
}
