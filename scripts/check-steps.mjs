// The steps of `npm run check`. Each of our own checks is tested with a planted violation.
import { availableParallelism } from 'node:os';
import { bootstrap } from './bootstrap.mjs';
import { alertRules } from './check-alerts.mjs';
import { benchRuns } from './check-bench.mjs';
import { compatible } from './check-compatibility.mjs';
import { documents } from './check-documents.mjs';
import { fakeAuthentication } from './check-fake-auth.mjs';
import { fresh } from './check-generated.mjs';
import { kubernetes } from './check-kubernetes.mjs';
import { lintRules } from './check-lint-rules.mjs';
import { migrationLocks } from './check-migrations.mjs';
import { publication } from './check-publication.mjs';
import { withoutSecrets } from './check-secrets.mjs';
import { runTests } from './check-tests.mjs';
import { tour } from './check-tour.mjs';
import { workflows } from './check-workflows.mjs';
import { inOwnGroup } from './own-group.mjs';

const node = (...args) => inOwnGroup(process.execPath, args);

/** A step that fails if `run` throws or resolves to false. */
const check = (name, run) => ({
  name,
  run: async () => ({ isRight: (await run()) !== false }),
});

/** As many as there are cores; jest.config.mjs has one more, but here another step runs beside this one. */
const workers = `--maxWorkers=${availableParallelism()}`;

/** A step that runs Jest through a script of package.json, with further environment variables. */
const tests = (name, script, variables) => ({
  name,
  run: async () => {
    const { totals, durations, ...others } = await runTests(script, (command, args) =>
      inOwnGroup(command, [...args, workers], { variables }),
    );
    if (totals.skipped > 0) console.error(`${totals.skipped} tests were skipped.`);
    return {
      ...others,
      ...totals,
      isRight: others.isRight && totals.skipped === 0,
      files: durations.map(({ file, duration }) => ({ name: `${file} (${script})`, duration })),
    };
  },
});

/** These write to the sources and the build, so nothing else may run meanwhile. */
export const preparations = [
  check('everything generated is fresh', fresh),
  check('types', async () => {
    const isCompiled = await node('node_modules/typescript/bin/tsc', '-b');
    if (isCompiled) bootstrap({ build: true });
    return isCompiled;
  }),
  check('both services can be bundled', async () => bootstrap({ bundle: true })),
];

/**
 * Run beside each other, and take about as long. The first lane uses the cores; most steps of the second one wait or use one
 * core. The last one uses the cores from about when the tests end.
 */
export const lanes = [
  [tests('tests', 'test')],
  [
    check('format and lint', () => node('node_modules/@biomejs/biome/bin/biome', 'ci', '.')),
    check('our lint rules, by planted violations', lintRules),
    check('fake authentication is off but in local development', fakeAuthentication),
    check('the alert rules work', alertRules),
    ...['identity', 'crm'].map((app) =>
      check(`the migrations of ${app} make its schema`, () =>
        node('packages/database-kit/tools/prisma.mjs', app, 'drift'),
      ),
    ),
    check('no new migration locks a large table', migrationLocks),
    check('the documents are valid OpenAPI and AsyncAPI', documents),
    check('no interface breaks clients of the last release', compatible),
    check('the GitHub workflows are right', workflows),
    check('no file contains a secret', withoutSecrets),
    check('the published packages can be installed', publication),
    check('the Kubernetes manifests are valid', kubernetes),
    check('the README can be followed', tour),
    check('the containers do what the README says', () => node('infra/verify-containers.mjs')),
    check('docs/deployment.md can be followed', () => node('infra/verify-deployment.mjs')),
    check('every benchmark runs and is answered 2xx', benchRuns),
    check('both services survive faults, and nothing is lost', () =>
      node('scripts/test-faults.mjs', '--smoke'),
    ),
    tests('a backup is restored to a time', 'verify:restore'),
    tests('tests on another release of Node', 'test:node'),
    tests('tests of limits that replicas share in Redis', 'test:redis'),
    tests('tests of the scan of files with ClamAV', 'test:clamd'),
    tests('tests of files in S3', 'test:s3'),
    tests('tests of both services behind PgBouncer', 'test:pgbouncer'),
    tests('tests of the SQL on PostgreSQL 15', 'test:postgres15'),
    tests('tests of the pages in a browser', 'test:browser'),
    tests('tests of events on Apache Kafka', 'test:kafka'),
    tests('tests of records on partitioned tables of PostgreSQL 15', 'test:partitions', {
      TEST_POSTGRES_RELEASE: '15',
    }),
  ],
];
