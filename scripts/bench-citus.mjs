// `npm run bench:citus`: measures CRM on the Citus cluster whose coordinator CITUS_URL names, as for `npm run test:citus`.
import { bootstrap, run } from './bootstrap.mjs';

if (!process.env.CITUS_URL) {
  console.error('CITUS_URL is missing: the URL of a database with Citus on the coordinator.');
  process.exit(2);
}
bootstrap();
run(process.execPath, [
  '--conditions=source',
  '--import=tsx',
  'apps/crm/src/testing/cluster-bench/main.ts',
]);
