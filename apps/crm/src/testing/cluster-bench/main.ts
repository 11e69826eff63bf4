// `npm run bench:citus`: the throughput of CRM on one server, on a Citus cluster with two workers and with one, and what
// clients notice while shards move. Prints Markdown. All servers, CRM and the load share this machine.
import { migrate } from '@tessera/database-kit';
import { dropCitusDatabases, freshCitusDatabase } from '@tessera/local-stack';
import { IdentityStandIn, startEvents } from '@tessera/resource-server/testing';
import { distribute } from '../../administration/distribution/distribute.ts';
import { migrations } from '../../database.ts';
import { TENANT_ROLE } from '../../row-level-security.ts';
import { withCrm } from './crm-process.ts';
import { drainLastWorker } from './drain.ts';
import { fillTenants, signInTenants } from './tenants.ts';
import { measureThroughput } from './throughput.ts';

const { CITUS_URL = '' } = process.env;
const run = `bench_${process.pid}`;
const identity = await new IdentityStandIn().start();
const events = await startEvents();
const tenants = signInTenants(identity);

const during = (
  databaseUrl: string,
  isDistributed: boolean,
  work: (url: string) => Promise<void>,
): Promise<void> => {
  const { brokers } = events;
  return withCrm({ databaseUrl, isDistributed, identityUrl: identity.url, brokers }, work);
};

const measure = (what: string, databaseUrl: string, isDistributed: boolean): Promise<void> =>
  during(databaseUrl, isDistributed, async (url) => {
    for (const { request, perSecond, cpu } of await measureThroughput(url, tenants, CITUS_URL)) {
      const each = cpu.map((milliseconds) => milliseconds.toFixed(1)).join(' | ');
      console.log(`| \`${request}\` | ${what} | ${Math.round(perSecond)} | ${each} |`);
    }
  });

const drain = (databaseUrl: string): Promise<void> =>
  during(databaseUrl, true, async (url) => {
    const { seconds, created, failures, lost, longestMs } = await drainLastWorker(
      url,
      databaseUrl,
      tenants,
    );
    console.log(
      `\nDraining a worker took ${Math.round(seconds)} s; clients created ${created} contacts meanwhile:`,
      `${failures.length} errors, ${lost} lost, longest wait ${Math.round(longestMs)} ms.\n`,
    );
    for (const failure of failures.slice(0, 10)) console.error(failure);
  });

try {
  console.log('| request | tables | requests per second | CPU: coordinator | workers | |');
  console.log('| --- | --- | ---: | ---: | ---: | ---: |');
  const url = await freshCitusDatabase(CITUS_URL, run, {
    roles: [TENANT_ROLE],
    before: async (template) => {
      await migrate(template, migrations);
      await fillTenants(template, tenants);
      await measure('one server', template, false);
    },
    distribute,
  });
  await measure('two workers', url, true);
  await drain(url);
  await measure('one worker', url, true);
} finally {
  await dropCitusDatabases(CITUS_URL, run);
  await events.stop();
  await identity.stop();
}
