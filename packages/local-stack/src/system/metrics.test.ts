import { allExpressions, problemsOf, seriesOf } from '@tessera/observability';
import { freePort } from '../free-port.ts';
import { isReachable, otherAddresses } from '../reach.ts';
import { until } from '../until.ts';
import { signIn } from './people.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let ports: { readonly identity: number; readonly crm: number };
beforeAll(async () => {
  ports = { identity: await freePort(), crm: await freePort() };
  stack = await startTestStack({
    environmentOf: {
      identity: { METRICS_PORT: `${ports.identity}`, WORKERS: '2' },
      crm: { METRICS_PORT: `${ports.crm}` },
    },
  });
});
afterAll(() => stack?.remove(), 60_000);

const metricsOf = async (service: 'identity' | 'crm'): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${ports[service]}/metrics`);
  return response.text();
};

/** Signs in, reads records, and stores a file, which enqueues a job. */
const makeTraffic = async (): Promise<void> => {
  const headers = { authorization: `Bearer ${await signIn(stack, 'person')}` };
  const listed = await fetch(`${stack.crm.url}/api/crm/contacts`, { headers });
  expect(listed.status).toBe(200);
  const body = new FormData();
  body.append('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
  const documents = `${stack.crm.url}/api/crm/documents`;
  expect((await fetch(documents, { method: 'POST', headers, body })).status).toBe(201);
};

test('Each metric and label of the alert rules and the dashboards exists after some traffic', async () => {
  await makeTraffic();
  // The job ends later.
  await until(async () =>
    /^job_duration_seconds_count\{.*content_reading/m.test(await metricsOf('crm')),
  );
  const series = seriesOf(await metricsOf('identity'), await metricsOf('crm'));
  const expressions = allExpressions();
  expect(expressions.length).toBeGreaterThan(50);
  const problems = expressions.flatMap(({ place, text }) =>
    problemsOf(text, series).map((problem) => `${place}: ${problem}`),
  );
  expect(problems).toEqual([]);
  // Planted mistakes are found.
  expect(problemsOf('max by (sink) (outbox_oldest_minutes)', series)).toEqual([
    'outbox_oldest_minutes',
    'outbox_oldest_minutes by sink',
  ]);
  expect(problemsOf('max by (sinks) (outbox_pending{sort="kafka"})', series)).toEqual([
    'outbox_pending{sort}',
    'outbox_pending by sinks',
  ]);
  expect(problemsOf('max by (sink) (outbox_pending', series)).toHaveLength(1);
});

test('The labels of requests are bounded: no path, id or tenant is one', async () => {
  const { tenant_id: tenant, user_id: user } = stack.system.person;
  const texts = [await metricsOf('identity'), await metricsOf('crm')];
  expect(texts[0]).toMatch(
    /http_server_request_duration_seconds_count\{operation="login",.*worker="[12]"/,
  );
  for (const text of texts) {
    for (const unsaid of [tenant, user, '/api/']) expect(text).not.toContain(unsaid);
    // What succeeds has an operation.
    expect(text).not.toMatch(/operation="unknown",method="\w+",status="[23]/);
  }
});

test('Other machines reach no part of the system, where it can be kept from the network', async () => {
  const { identity, crm, postgres, broker, deploymentAutomation } = stack;
  const urls = [identity.url, crm.url, deploymentAutomation.url];
  const listening = [...urls.map((url) => Number(new URL(url).port)), postgres.port];
  listening.push(...Object.values(ports));
  for (const address of otherAddresses()) {
    const reached = await Promise.all(listening.map((port) => isReachable(port, address)));
    expect(reached).toEqual(listening.map(() => false));
    expect(await isReachable(broker.port, address)).toBe(!broker.isLoopbackOnly);
  }
  expect(await isReachable(broker.port)).toBe(true);
});
