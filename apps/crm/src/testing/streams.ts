import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { until } from '@tessera/local-stack';

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any member.
  readonly data: any;
}

/** An open event stream. */
export interface ReceivedStream {
  readonly status: number | undefined;
  /** The events until now. */
  readonly events: ReceivedEvent[];
  /** The names of the events until now. */
  names(): string[];
  hasEnded(): boolean;
  /** Resolves with the first event of this name that has been or will be received. */
  next(name: string): Promise<ReceivedEvent>;
  /** Stops reading, as a client that hangs. */
  pause(): void;
  resume(): void;
  close(): void;
}

const parsed = (block: string): ReceivedEvent | undefined => {
  const fields = new Map(
    block.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  const event = fields.get('event');
  if (event === undefined) return undefined;
  return { event, id: fields.get('id'), data: JSON.parse(fields.get('data') ?? 'null') };
};

/**
 * Opens an event stream over HTTP; resolves with its first event, or with an error response. A stream that continues
 * after an event may have nothing to send yet, and resolves at once.
 */
export const openStream = async (
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<ReceivedStream> => {
  const sent = get(url, { headers, agent: false });
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => undefined);
  answer.on('error', () => undefined);
  const events: ReceivedEvent[] = [];
  let rest = '';
  answer.setEncoding('utf8').on('data', (part: string) => {
    const blocks = (rest + part).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parsed(block);
      if (event) events.push(event);
    }
  });
  const stream: ReceivedStream = {
    status: answer.statusCode,
    events,
    names: () => events.map(({ event }) => event),
    hasEnded: () => answer.readableEnded,
    async next(name) {
      const find = () => events.find(({ event }) => event === name);
      await until(() => find() !== undefined);
      return find() as ReceivedEvent;
    },
    pause: () => void answer.pause(),
    resume: () => void answer.resume(),
    close: () => void sent.destroy(),
  };
  const begins = answer.statusCode === 200 && headers['last-event-id'] === undefined;
  if (begins) await until(() => events.length > 0 || answer.readableEnded);
  return stream;
};
