import { request } from 'node:http';
import { bodySchemaOf, type OpenApiDocument, type Operation, operationsOf } from '../document.ts';
import {
  addressOf,
  authorizedHeaders,
  createResources,
  type Subject,
  validBody,
} from '../subject.ts';
import { createMeasurement, LIMIT } from './longest-stretch.ts';
import { worstBodies } from './worst-bodies.ts';

/** A request of which everything is prepared, so that sending it takes next to no time of the event loop. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Sends a request, reads the response without keeping it, and returns the status; 0 if the connection ended. */
export const sendPrepared = ({ method, url, headers, body }: PreparedRequest): Promise<number> =>
  new Promise((resolve) => {
    const sent = request(url, { method, agent: false, headers: { ...headers } }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    // The service may refuse a body before it has arrived.
    sent.once('error', () => resolve(0));
    sent.end(body);
  });

const longestStretch = createMeasurement();

/**
 * The findings of one request: that it, or what `ended` waits for, kept the event loop for too long, or that the service
 * failed.
 */
export const keepsEventLoop = async (
  what: string,
  prepared: PreparedRequest,
  ended: () => Promise<void> = async () => undefined,
): Promise<readonly string[]> => {
  const statuses: number[] = [];
  const stretch = await longestStretch(async () => {
    statuses.push(await sendPrepared(prepared));
    await ended();
  });
  const failed = statuses.filter((status) => status >= 500 && status !== 503);
  return [
    ...(stretch > LIMIT ? [`${what}: ${(stretch / LIMIT).toFixed(1)} times the limit`] : []),
    ...failed.map((status) => `${what}: ${status}`),
  ];
};

export interface EventLoopOptions {
  /** The largest JSON body that the service reads, in bytes. */
  readonly maxBytes: number;
  /** Operations that other tests send their worst requests. */
  readonly except?: readonly string[];
}

const worstRequests = async (
  subject: Subject,
  operation: Operation,
  maxBytes: number,
): Promise<readonly (readonly [what: string, prepared: PreparedRequest])[]> => {
  const schema = bodySchemaOf(operation);
  if (!schema) return [];
  const headers = await authorizedHeaders(subject, operation);
  const parameters = await createResources(subject, operation.path, 'own', headers);
  const valid = (await validBody(subject, operation, 'own')) as object;
  const url = addressOf(subject, operation, parameters);
  const all = Object.assign({}, subject.headers?.[operation.id], headers, {
    'content-type': 'application/json',
  });
  return worstBodies(subject.document, schema, valid, maxBytes).map(({ what, text }) => [
    what,
    { method: operation.method, url, headers: all, body: Buffer.from(text) },
  ]);
};

/**
 * Declares a jest test for each operation with a JSON body: none of its worst bodies keeps the event loop for longer than
 * 20 ms on a machine of 2026, measured as a ratio to a piece of work in the same process. The service must run in this process,
 * without checks of its responses.
 */
export const eventLoop = (
  document: OpenApiDocument,
  subjectOf: () => Omit<Subject, 'document'>,
  { maxBytes, except = [] }: EventLoopOptions,
): void => {
  const operations = operationsOf(document).filter(
    (operation) => bodySchemaOf(operation) && !except.includes(operation.id),
  );
  describe('the worst JSON bodies keep the event loop for 20 ms at most', () => {
    test.each(operations.map((operation) => [operation.id, operation] as const))(
      '%s',
      async (_id, operation) => {
        const subject = { ...subjectOf(), document };
        const found: string[] = [];
        for (const [what, prepared] of await worstRequests(subject, operation, maxBytes)) {
          found.push(...(await keepsEventLoop(what, prepared)));
        }
        expect(found).toEqual([]);
      },
    );
  });
};
