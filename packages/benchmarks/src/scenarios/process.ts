import { bearerVariants, CONNECTIONS, extentOf } from '../comparison.ts';
import { type Load, median, type Plan } from '../load/plan.ts';
import { type Result, requireResponses, type Scenario } from '../scenario.ts';

const STARTS = 3;
const WORK_SECONDS = 5;

/** Time until both services are healthy, with existing data. */
export const warmStart: Scenario = {
  name: 'start',
  run: async ({ system, options }) => {
    const times: number[] = [];
    for (let start = 0; start < (options.smoke ? 1 : STARTS); start += 1) {
      times.push(await system.restart());
    }
    const seconds = (median(times) / 1000).toFixed(2);
    return [{ what: 'warm start of the whole system', remark: `${seconds} s` }];
  },
};

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** The memory of each service after its start and after some seconds of load. */
export const memory: Scenario = {
  name: 'memory',
  run: async ({ system, load, options }) => {
    await system.restart();
    const idle = {
      identity: await system.memory('identity'),
      crm: await system.memory('crm'),
    };
    const variants = bearerVariants([await system.signIn('owner')]);
    const { identity, crm } = system.stack;
    const work = {
      identity: `${identity.url}/api/user`,
      crm: `${crm.url}/api/crm/contacts`,
    };
    const results: Result[] = [];
    for (const service of ['identity', 'crm'] as const) {
      const extent = extentOf(options, WORK_SECONDS);
      const plan: Plan = { url: work[service], variants, connections: CONNECTIONS, ...extent };
      requireResponses(`the work of ${service}`, await load.ask<Load>(plan));
      const loaded = await system.memory(service);
      results.push({
        what: `resident memory of ${service}`,
        remark: `${megabytes(idle[service])} idle, ${megabytes(loaded)} loaded`,
      });
    }
    return results;
  },
};
