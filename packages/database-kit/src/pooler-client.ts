import pg from 'pg';

/** The members of `pg.Client` that its types omit, or overload in a way that cannot be overridden. */
interface SentClient {
  getStartupConf(): Record<string, string>;
  query(query: unknown, ...rest: unknown[]): unknown;
}

const Client = pg.Client as unknown as new (config?: pg.ClientConfig) => SentClient;

/** The parameters of the startup message that PgBouncer accepts. */
const ACCEPTED_PARAMETERS = new Set(['user', 'database', 'application_name']);

const hasName = (query: unknown): query is { name: unknown } =>
  typeof query === 'object' && query !== null && 'name' in query;

/**
 * A client for PgBouncer in transaction mode, where each transaction may use another connection to the server. It
 * sends neither named statements nor session settings.
 */
export class PoolerClient extends Client {
  override getStartupConf(): Record<string, string> {
    const all = Object.entries(super.getStartupConf());
    return {
      ...Object.fromEntries(all.filter(([name]) => ACCEPTED_PARAMETERS.has(name))),
      // PgBouncer tracks this parameter.
      TimeZone: 'UTC',
    };
  }

  override query(query: unknown, ...rest: unknown[]): unknown {
    if (!hasName(query)) return super.query(query, ...rest);
    if ('submit' in query) {
      query.name = undefined;
      return super.query(query, ...rest);
    }
    return super.query({ ...query, name: undefined }, ...rest);
  }
}
