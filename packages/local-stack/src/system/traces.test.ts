import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '../until.ts';
import { signIn } from './people.ts';
import { type ReceivedSpan, type SpanReceiver, startSpanReceiver } from './span-receiver.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let receiver: SpanReceiver;
let stack: TestStack;
beforeAll(async () => {
  receiver = await startSpanReceiver();
  stack = await startTestStack({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    },
  });
});
afterAll(async () => {
  await stack?.remove();
  await receiver?.stop();
});

/** A trace that a caller began; `flags` 00: the caller does not want it to be recorded. */
const newTrace = (flags = '01') => {
  const id = randomBytes(16).toString('hex');
  const parent = randomBytes(8).toString('hex');
  return { id, parent, traceparent: `00-${id}-${parent}-${flags}` };
};

const spanOf = async (
  trace: string,
  service: string,
  matches: (span: ReceivedSpan) => boolean,
): Promise<ReceivedSpan> => {
  const find = () =>
    receiver.spans.find(
      (span) => span.traceId === trace && span.service === service && matches(span),
    );
  await until(() => find() !== undefined);
  return find() as ReceivedSpan;
};
const named = (name: string) => (span: ReceivedSpan) => span.name === name;
const childOf = (parent: ReceivedSpan) => (span: ReceivedSpan) =>
  span.parentSpanId === parent.spanId;
const hasAttribute = (span: ReceivedSpan, key: string): boolean =>
  span.attributes.some((attribute) => attribute.key === key);

const send = (
  url: string,
  { token, traceparent }: { readonly token: string; readonly traceparent: string },
  request: { readonly method?: string; readonly body?: FormData | string } = {},
): Promise<Response> =>
  fetch(url, {
    ...request,
    headers: {
      authorization: `Bearer ${token}`,
      traceparent,
      ...(typeof request.body === 'string' && { 'content-type': 'application/json' }),
    },
  });

test('One trace contains the request to CRM, its call of identity and the statements of both', async () => {
  const token = await signIn(stack, 'viewer');
  const { id, parent, traceparent } = newTrace();
  const secret = randomBytes(12).toString('hex');
  const url = `${stack.crm.url}/api/crm/contacts?search=${secret}`;
  expect((await send(url, { token, traceparent })).status).toBe(200);

  const request = await spanOf(id, 'crm', named('GET /api/crm/contacts'));
  expect(request).toMatchObject({ kind: 2, parentSpanId: parent });
  const isCall = (span: ReceivedSpan): boolean => hasAttribute(span, 'server.address');
  const asked = await spanOf(id, 'crm', (span) => isCall(span) && childOf(request)(span));
  const answered = await spanOf(id, 'identity', childOf(asked));
  expect(answered).toMatchObject({ kind: 2, name: expect.stringMatching(/^GET \/api\//) });
  const isStatement = (span: ReceivedSpan): boolean => hasAttribute(span, 'db.system.name');
  await spanOf(id, 'identity', (span) => isStatement(span) && childOf(answered)(span));
  await spanOf(id, 'crm', (span) => isStatement(span) && childOf(request)(span));

  for (const unsaid of [secret, token]) expect(receiver.sent()).not.toContain(unsaid);
  const log = path.join(stack.directory, 'logs', 'crm.log');
  await until(async () => (await readFile(log, 'utf8')).includes(`"trace_id":"${id}"`));
});

test('The trace of a policy change continues in the consumer of its event', async () => {
  const { tenant_id: tenant, user_id: user } = stack.system.person;
  const token = await signIn(stack, 'owner');
  const { id, traceparent } = newTrace();
  const changed = await send(
    `${stack.identity.url}/api/tenants/${tenant}/members/${user}`,
    { token, traceparent },
    {
      method: 'PUT',
      body: JSON.stringify({
        policies: [{ action: 'tenant.acme.crm.contacts.delete', effect: 'deny' }],
      }),
    },
  );
  expect(changed.status).toBe(200);
  const request = await spanOf(
    id,
    'identity',
    named('PUT /api/tenants/{tenantId}/members/{userId}'),
  );
  const consumed = await spanOf(id, 'crm', named('process identity.policy.updated'));
  expect(consumed).toMatchObject({ kind: 5, parentSpanId: request.spanId });
});

test('The span of a job belongs to the request that enqueued it', async () => {
  const token = await signIn(stack, 'person');
  const { id, traceparent } = newTrace();
  const body = new FormData();
  body.append('file', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
  const url = `${stack.crm.url}/api/crm/documents`;
  const created = await send(url, { token, traceparent }, { method: 'POST', body });
  expect(created.status).toBe(201);
  const request = await spanOf(id, 'crm', named('POST /api/crm/documents'));
  const job = await spanOf(id, 'crm', ({ kind }) => kind === 5);
  expect(job.parentSpanId).toBe(request.spanId);
  await spanOf(id, 'crm', childOf(job));
});

test('A trace that the caller does not sample is not sent', async () => {
  const token = await signIn(stack, 'viewer');
  const [unsampled, sampled] = [newTrace('00'), newTrace()];
  for (const { traceparent } of [unsampled, sampled]) {
    const url = `${stack.crm.url}/api/crm/contacts`;
    expect((await send(url, { token, traceparent })).status).toBe(200);
  }
  await spanOf(sampled.id, 'crm', named('GET /api/crm/contacts'));
  expect(receiver.spans.filter(({ traceId }) => traceId === unsampled.id)).toEqual([]);
});

test('Both services send their metrics to the receiver', async () => {
  await signIn(stack, 'viewer');
  const expected = [
    'identity http_server_request_duration_seconds',
    'identity password_hash_wait_seconds',
    'crm outbox_pending',
    'crm jobs',
  ];
  await until(() => expected.every((metric) => receiver.metrics.has(metric)));
});
