// A separate process, because the load generator must not share an event loop with the measured code.
import autocannon, { type Client, type Result } from 'autocannon';
import { answerQuestions } from '../program.ts';
import { type Load, type Plan, percentile } from './plan.ts';

/** How often autocannon checks whether it is done, in milliseconds. */
const TICK_MS = 50;
const TIMEOUT_SECONDS = 60;

const run = async (plan: Plan): Promise<Load> => {
  const { url, method = 'GET', headers = {}, variants, connections, seconds, amount, rate } = plan;
  const requests = variants?.map((variant) => ({
    ...variant,
    headers: { ...headers, ...variant.headers },
  }));
  let clients = 0;
  const options = {
    url,
    method,
    headers,
    connections,
    sampleInt: TICK_MS,
    timeout: TIMEOUT_SECONDS,
    ...(requests && {
      requests,
      // Each connection begins elsewhere: otherwise all of them send the same request at the same time.
      setupClient: (client: Client) => {
        const start = Math.floor((clients * requests.length) / connections);
        clients += 1;
        client.setRequests([...requests.slice(start), ...requests.slice(0, start)]);
      },
    }),
    ...(amount === undefined ? { duration: seconds ?? 1 } : { amount }),
    ...(rate !== undefined && { overallRate: rate, ignoreCoordinatedOmission: true }),
  };
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const started = performance.now();
  let ended = started;
  const { errors } = await new Promise<Result>((resolve, reject) => {
    const instance = autocannon(options, (error: unknown, result) =>
      error ? reject(error) : resolve(result),
    );
    instance.on('response', (_client, status, _bytes, latency) => {
      latencies.push(latency);
      statuses[status] = (statuses[status] ?? 0) + 1;
      ended = performance.now();
    });
  });
  return {
    rate: latencies.length / ((ended - started) / 1000),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    statuses,
    errors,
  };
};

answerQuestions(run);
