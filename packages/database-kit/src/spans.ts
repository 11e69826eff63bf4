import { isInSpan, type SpanOptions, spanWithin, whileWaiting } from '@tessera/telemetry';
import type pg from 'pg';

type Query = (...parameters: unknown[]) => unknown;

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : String((query as { text?: unknown } | null)?.text ?? '');

/** The command alone: a statement may contain values. */
const operationOf = (query: unknown): string =>
  /^[\s(]*([a-z]+)/i.exec(textOf(query))?.[1]?.toUpperCase() ?? 'QUERY';

const about = (operation: string): SpanOptions => ({
  kind: 'client',
  attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation },
});

/**
 * A query with a callback is part of one that is already measured. One that can be submitted is returned itself, such
 * as a stream of rows.
 */
const isPassedOn = (parameters: readonly unknown[], submits: boolean): boolean =>
  typeof parameters.at(-1) === 'function' ||
  (!submits && typeof (parameters[0] as { submit?: unknown } | null)?.submit === 'function');

const traced =
  (send: Query, submits: boolean): Query =>
  (...parameters) => {
    if (isPassedOn(parameters, submits)) return send(...parameters);
    if (!isInSpan()) return whileWaiting(() => send(...parameters));
    const operation = operationOf(parameters[0]);
    return whileWaiting(() =>
      spanWithin(
        operation,
        () => about(operation),
        async () => send(...parameters),
      ),
    );
  };

/** Records the statements of a pool within the span of a request, job or event. It includes the wait for a connection. */
export const tracePool = (pool: pg.Pool): void => {
  pool.query = traced(pool.query.bind(pool) as Query, true) as typeof pool.query;
};

/** Records the statements of transactions, which use one connection. */
export const traceClient = (client: pg.PoolClient): void => {
  client.query = traced(client.query.bind(client) as Query, false) as typeof client.query;
};
