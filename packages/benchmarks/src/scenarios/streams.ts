import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../load/plan.ts';
import type { Arrivals } from '../load/streams.ts';
import { startProgram } from '../program.ts';
import { type Bench, type Result, type Scenario, UnexpectedResponses } from '../scenario.ts';

interface StreamLoad {
  readonly what: string;
  readonly channels: number;
  /** Streams of each channel. */
  readonly streams: number;
  /** Messages per second, in all channels together. */
  readonly rate: number;
}

/** Milliseconds from the answer to the post until the message has reached every stream, at most for 99 %. */
const TARGET_MS = 150;

const now = (): number => performance.timeOrigin + performance.now();

interface Poster {
  readonly crm: string;
  readonly headers: Readonly<Record<string, string>>;
}

const post = async (
  { crm, headers }: Poster,
  path: string,
  body: object,
): Promise<{ id: string }> => {
  const response = await fetch(`${crm}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { data?: { id: string } };
  if (!answer.data) throw new UnexpectedResponses(`POST ${path}: ${response.status}`);
  return answer.data;
};

/** Posts messages at a rate; returns when each was answered, by its id. */
const postMessages = async (
  poster: Poster,
  paths: readonly string[],
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<ReadonlyMap<string, number>> => {
  const answered = new Map<string, number>();
  const sent: Promise<void>[] = [];
  const begin = performance.now();
  for (let n = 0; n < Math.max(1, rate * seconds); n += 1) {
    await pause(Math.max(0, begin + (n * 1000) / rate - performance.now()));
    const path = `${paths[n % paths.length]}/messages`;
    const request = post(poster, path, { body: `Message ${n}` });
    sent.push(request.then(({ id }) => void answered.set(id, now())));
  }
  await Promise.all(sent);
  return answered;
};

const measure = async (bench: Bench, load: StreamLoad): Promise<readonly Result[]> => {
  const { system, options } = bench;
  const share = options.smoke ? 0.1 : 1;
  const streams = Math.ceil(load.streams * share);
  const crm = system.stack.crm.url;
  const headers = { authorization: `Bearer ${await system.signIn('owner')}` };
  const poster = { crm, headers };
  const paths: string[] = [];
  for (let n = 0; n < load.channels; n += 1) {
    const name = `${load.what} ${n}`.slice(0, 80);
    const { id } = await post(poster, '/api/crm/channels', { name });
    paths.push(`/api/crm/channels/${id}`);
  }
  const program = startProgram('load/streams');
  try {
    const open = paths.flatMap((path) =>
      Array.from({ length: streams }, () => ({ url: `${crm}${path}/stream`, headers })),
    );
    await program.ask<Arrivals>({ open });
    const before = await system.cpu('crm');
    const answered = await postMessages(poster, paths, {
      rate: load.rate,
      seconds: options.seconds,
    });
    await pause(1000);
    const cpu = (await system.cpu('crm')) - before;
    const { times, broken } = await program.ask<Arrivals>({ collect: true });
    const missing = [...answered.keys()].filter((id) => times[id]?.length !== streams);
    if (missing.length > 0 || broken > 0) {
      const problem = `${missing.length} messages did not reach every stream, ${broken} streams ended`;
      throw new UnexpectedResponses(`${load.what}: ${problem}`);
    }
    const delays = [...answered].map(([id, at]) =>
      Math.max(0, Math.max(...(times[id] ?? [])) - at),
    );
    const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
    const deliveries = answered.size * streams;
    return [
      {
        what: load.what,
        load: {
          rate: deliveries / options.seconds,
          p50,
          p99,
          statuses: { 200: deliveries },
          cpu: (cpu * 1000) / deliveries,
          errors: 0,
        },
        remark: 'deliveries; from the answer to the post until the last stream has the message',
        target: { text: `p99 < ${TARGET_MS} ms`, isMet: p99 < TARGET_MS },
      },
    ];
  } finally {
    await program.stop();
  }
};

/** Streams of the chat while messages are posted. */
export const chatStreams: Scenario = {
  name: 'streams',
  run: async (bench) => [
    ...(await measure(bench, {
      what: '20 channels of 50 streams, 50 messages/s',
      channels: 20,
      streams: 50,
      rate: 50,
    })),
    ...(await measure(bench, {
      what: 'one channel of 1,000 streams, 5 messages/s',
      channels: 1,
      streams: 1000,
      rate: 5,
    })),
  ],
};
