import { readFile } from 'node:fs/promises';
import { freePort } from '../free-port.ts';
import { startTestStack, type TestStack } from './test-stack.ts';

let stack: TestStack;
let port: number;
beforeAll(async () => {
  port = await freePort();
  stack = await startTestStack({ environmentOf: { crm: { METRICS_PORT: `${port}` } } });
}, 120_000);
afterAll(() => stack?.remove(), 60_000);

/** Words of PromQL, and `exported_job`, which Prometheus makes of `job`. */
const WORDS = new Set(['sum', 'max', 'by', 'rate', 'm', 'exported_job']);

/** The metrics and labels of the rules that are not in the metrics of a service. */
const unknownNames = (rules: string, metrics: string): string[] => {
  const known = new Set(metrics.match(/[a-z_]+/g));
  const expressions = [...rules.matchAll(/expr: (.*?)\n {8}\w+:/gs)].map(([, text = '']) => text);
  const names = expressions.flatMap((text) => text.replace(/"[^"]*"/g, '').match(/[a-z_]+/g) ?? []);
  if (names.length === 0) throw new Error('There are no expressions.');
  return names.filter((name) => !WORDS.has(name) && !known.has(name));
};

test('Each metric and label of the alert rules exists', async () => {
  const file = new URL('../../../../infra/observability/alerts.yml', import.meta.url);
  const rules = await readFile(file, 'utf8');
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(unknownNames(rules, metrics)).toEqual([]);
  const misspelled = rules.replace('outbox_oldest_seconds', 'outbox_oldest_minutes');
  expect(unknownNames(misspelled, metrics)).toEqual(['outbox_oldest_minutes']);
});
