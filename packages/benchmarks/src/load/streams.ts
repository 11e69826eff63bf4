import { get } from 'node:http';
import { answerQuestions } from '../program.ts';

/** Streams to keep open, until `collect`. */
export interface OpenStreams {
  readonly open: readonly {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }[];
}

/** Asks for what arrived since the streams were opened, and closes them. */
export interface CollectStreams {
  readonly collect: true;
}

export interface Arrivals {
  /** When each message arrived at each stream, by the id of the message; milliseconds since the epoch. */
  readonly times: Readonly<Record<string, readonly number[]>>;
  readonly broken: number;
}

const MESSAGE = /^event: message\.created\ndata: .*?"message_id":"([0-9a-f-]{36})"/m;

const now = (): number => performance.timeOrigin + performance.now();

let times: Record<string, number[]> = {};
let broken = 0;
let close: (() => void)[] = [];

const openOne = ({ url, headers }: OpenStreams['open'][number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${response.statusCode} ${url}`));
      let rest = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        const at = now();
        const blocks = (rest + part).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          if (block.includes('event: ready')) resolve();
          const [, id] = MESSAGE.exec(block) ?? [];
          if (id === undefined) continue;
          const arrivals = times[id] ?? [];
          times[id] = arrivals;
          arrivals.push(at);
        }
      });
      response.on('error', () => undefined).on('end', () => (broken += 1));
      return undefined;
    });
    request.on('error', reject);
    close.push(() => request.destroy());
  });

answerQuestions<OpenStreams | CollectStreams, Arrivals>(async (question) => {
  if ('open' in question) {
    times = {};
    broken = 0;
    // A few at a time: the server's queue of new connections is short.
    for (let n = 0; n < question.open.length; n += 50) {
      await Promise.all(question.open.slice(n, n + 50).map(openOne));
    }
    return { times: {}, broken: 0 };
  }
  const collected = { times, broken };
  for (const end of close) end();
  close = [];
  return collected;
});
