import { randomUUID } from 'node:crypto';
import { percentile } from '../load/plan.ts';
import { type Bench, type Scenario, UnexpectedResponses } from '../scenario.ts';

const LIMIT_MS = 250;
/** A change that CRM has not applied by then is lost. */
const GIVE_UP_MS = 30_000;

/** A viewer may not delete contacts (403), a member may, and there is none with this id (404). */
const EXPECTED_STATUS = { viewer: 403, member: 404 } as const;

const request = async (method: string, url: string, token: string, body?: object) => {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  await response.arrayBuffer();
  return response.status;
};

const demand = (what: string, status: number, expected: readonly number[]): void => {
  if (!expected.includes(status)) throw new UnexpectedResponses(`${what}: ${status}`);
};

/**
 * Time from identity's response to a change until CRM's first response that reflects it, in milliseconds.
 */
const changes = async ({ system, options }: Bench): Promise<number[]> => {
  const { identity, crm, system: accounts } = system.stack;
  const { tenant_id, user_id } = accounts.viewer;
  const owner = await system.signIn('owner');
  const viewer = await system.signIn('viewer');
  const member = `${identity.url}/api/tenants/${tenant_id}/members/${user_id}`;
  const contact = `${crm.url}/api/crm/contacts/${randomUUID()}`;
  const delays: number[] = [];
  for (let change = 0; change < options.policyChanges; change += 1) {
    const role = change % 2 === 0 ? 'member' : 'viewer';
    demand('a policy change', await request('PUT', member, owner, { role }), [200]);
    const changed = performance.now();
    for (let status = 0; status !== EXPECTED_STATUS[role]; ) {
      status = await request('DELETE', contact, viewer);
      demand('a policy in CRM', status, Object.values(EXPECTED_STATUS));
      if (performance.now() - changed > GIVE_UP_MS) {
        throw new UnexpectedResponses('a policy change did not take effect');
      }
    }
    delays.push(performance.now() - changed);
  }
  return delays;
};

export const policyChange: Scenario = {
  name: 'policy',
  run: async (bench) => {
    const delays = await changes(bench);
    const p99 = percentile(delays, 0.99);
    return [
      {
        what: 'policy change, from identity’s response until CRM applies it',
        remark: `${delays.length} changes`,
        load: { rate: Number.NaN, p50: percentile(delays, 0.5), p99, statuses: {}, errors: 0 },
        target: { text: `p99 < ${LIMIT_MS} ms`, isMet: p99 < LIMIT_MS },
      },
    ];
  },
};
