// The checks of `npm run check`. Each check and each test counts as one; the last line is the
// total. Each of our own checks is tested with a planted violation.
import { alertRules } from './check-alerts.mjs';
import { benchRuns } from './check-bench.mjs';
import { compatible } from './check-compatibility.mjs';
import { documents } from './check-documents.mjs';
import { fakeAuthentication } from './check-fake-auth.mjs';
import { fresh } from './check-generated.mjs';
import { kubernetes } from './check-kubernetes.mjs';
import { lintRules } from './check-lint-rules.mjs';
import { migrationLocks } from './check-migrations.mjs';
import { noProcessLeft } from './check-processes.mjs';
import { publication } from './check-publication.mjs';
import { withoutSecrets } from './check-secrets.mjs';
import { runTests } from './check-tests.mjs';
import { tour } from './check-tour.mjs';
import { workflows } from './check-workflows.mjs';
import { inOwnGroup } from './own-group.mjs';

let passed = 0;
let failed = 0;
const failures = [];
/** Files of tests that failed first and passed when they ran by themselves. */
const flaky = [];
/** How long each step and each file of tests took, in milliseconds. */
const steps = [];
const files = [];
const SLOWEST_FILES = 15;

const node = (...args) => inOwnGroup(process.execPath, args);

const seconds = (duration) => (duration / 1000).toFixed(1);
const minutes = (duration) => (duration / 60_000).toFixed(1).padStart(6);

const check = async (name, run) => {
  console.log(`\n--- ${name}`);
  const started = Date.now();
  let isRight = false;
  try {
    isRight = (await run()) !== false;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  if (isRight) passed += 1;
  else failed += 1;
  if (!isRight) failures.push(name);
  const duration = Date.now() - started;
  steps.push({ name, duration });
  console.log(`${isRight ? 'passed' : 'FAILED'}: ${name} (${seconds(duration)} s)`);
};

/** Runs Jest through a script of package.json, with further environment variables, and adds its counts. */
const tests = (script, variables) => async () => {
  const run = await runTests(script, (command, args) => inOwnGroup(command, args, variables));
  passed += run.totals.passed;
  failed += run.totals.failed;
  flaky.push(...run.flaky);
  for (const { file, duration } of run.durations)
    files.push({ name: `${file} (${script})`, duration });
  if (run.totals.skipped > 0) throw new Error(`${run.totals.skipped} tests were skipped.`);
  return run.isRight;
};

const before = noProcessLeft.running();
await check('types', async () => {
  const isCompiled = await node('node_modules/typescript/bin/tsc', '-b');
  // The tests start services and other programs from this build, which takes half the CPU time of starting them from their sources.
  if (isCompiled) process.env.TEST_PROGRAMS = 'build';
  return isCompiled;
});
await check('tests', tests('test'));
await check('tests of events on Apache Kafka', tests('test:kafka'));
await check('tests of limits that replicas share in Redis', tests('test:redis'));
await check('tests of the scan of files with ClamAV', tests('test:clamd'));
await check('tests of files in S3', tests('test:s3'));
await check('tests of both services behind PgBouncer', tests('test:pgbouncer'));
await check('tests of the SQL on PostgreSQL 15', tests('test:postgres15'));
await check(
  'tests of records on partitioned tables of PostgreSQL 15',
  tests('test:partitions', { TEST_POSTGRES_RELEASE: '15' }),
);
await check('a backup is restored to a time', tests('verify:restore'));
await check('tests of the pages in a browser', tests('test:browser'));
await check('tests on another release of Node', tests('test:node'));
await check('format and lint', () => node('node_modules/@biomejs/biome/bin/biome', 'ci', '.'));
await check('our lint rules, by planted violations', lintRules);
await check('fake authentication is off but in local development', fakeAuthentication);
await check('the alert rules work', alertRules);
await check('everything generated is fresh', fresh);
for (const app of ['identity', 'crm']) {
  await check(`the migrations of ${app} make its schema`, () =>
    node('packages/database-kit/tools/prisma.mjs', app, 'drift'),
  );
}
await check('no new migration locks a large table', migrationLocks);
await check('the documents are valid OpenAPI and AsyncAPI', documents);
await check('no interface breaks clients of the last release', compatible);
await check('the GitHub workflows are right', workflows);
await check('no file contains a secret', withoutSecrets);
await check('the published packages can be installed', publication);
await check('every benchmark runs and is answered 2xx', benchRuns);
await check('both services survive faults, and nothing is lost', () =>
  node('scripts/test-faults.mjs', '--smoke'),
);
await check('the README can be followed', tour);
await check('the containers do what the README says', () => node('infra/verify-containers.mjs'));
await check('docs/deployment.md can be followed', () => node('infra/verify-deployment.mjs'));
await check('the Kubernetes manifests are valid', kubernetes);
await check('no process is left behind', () => noProcessLeft.since(before));

const slowestFirst = (one, other) => other.duration - one.duration;
console.log('\nMinutes of each step:');
for (const { name, duration } of steps.sort(slowestFirst)) {
  console.log(`${minutes(duration)}  ${name}`);
}
console.log(`${minutes(steps.reduce((sum, { duration }) => sum + duration, 0))}  in all`);
console.log('\nSeconds of the slowest test files:');
for (const { name, duration } of files.sort(slowestFirst).slice(0, SLOWEST_FILES)) {
  console.log(`${seconds(duration).padStart(6)}  ${name}`);
}
console.log('');
for (const file of flaky) console.log(`FLAKY, passed when it ran again, must be fixed: ${file}`);
for (const name of failures) console.log(`FAILED: ${name}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
