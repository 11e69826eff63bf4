// `npm test`: runs all tests that only need Node. Further arguments are passed to Jest.
import { bootstrap, jest } from './bootstrap.mjs';

const leftOut = {
  'npm run test:kafka': 'the events on Apache Kafka (Java, Maven)',
  'npm run test:redis': 'the limits that replicas share (redis-server)',
  'npm run test:clamd': 'the scan of files with ClamAV (clamd)',
  'npm run test:s3': 'files in S3 (Java, Maven)',
  'npm run test:pgbouncer': 'both services behind PgBouncer (pgbouncer)',
  'npm run test:postgres15': 'the SQL on PostgreSQL 15',
  'npm run test:citus': 'the records on a Citus cluster (PostgreSQL with Citus)',
  'npm run verify:restore': 'a restore to a time on PostgreSQL 15',
  'npm run test:node': 'a part of the tests on another release of Node (network)',
  'npm run test:upgrade': 'the previous release on the schema of this one (its dependencies)',
  'npm run test:browser': 'the pages in a browser (Chromium)',
};

bootstrap();
console.log(
  'Not run: the records on partitioned tables (npm run test:partitions), and what needs more than Node:',
);
for (const [command, what] of Object.entries(leftOut)) console.log(`  ${command}: ${what}`);
jest();
