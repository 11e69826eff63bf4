import pg from 'pg';
import type { RowFormat } from './row-format.ts';
import { type Statement, toQuery } from './statements.ts';

/** The members of pg's connection that send a query. */
interface Connection {
  /** The texts of prepared statements, and of statements that were sent to be prepared, by name. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: {
    readonly statement: string;
    readonly values: readonly string[];
    valueMapper(value: string): string;
  }): void;
  execute(portal: { readonly portal: string; readonly rows: number }): void;
}

/** The members of `pg.Query` that its types omit. */
interface SentQuery {
  name: string | undefined;
  text: string;
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => SentQuery & pg.Submittable;

/** A statement that sets settings of its transaction. */
export interface Preamble {
  /** The name under which it is prepared; must always stand for the same text. */
  readonly name: string;
  readonly text: string;
}

const asIs = (value: string): string => value;
const EXECUTE_ALL = { portal: '', rows: 0 } as const;

/**
 * A statement with a preamble. Both are sent before one Sync message, which makes them one transaction (PostgreSQL
 * manual, "Extended Query"): the settings of the preamble end with the query, and the preamble needs no round trip
 * of its own. `parameters` are those of the preamble.
 */
export class TenantQuery extends Query {
  readonly #preamble: Preamble;
  readonly #parameters: readonly string[];
  #ownName: string | undefined;
  readonly #ownText: string;
  #hasEntered = false;

  constructor(
    statement: Statement,
    preamble: Preamble,
    parameters: readonly string[],
    format?: RowFormat<unknown>,
  ) {
    const config = { ...toQuery(statement, format), queryMode: 'extended' };
    super(config as pg.QueryConfig);
    this.#preamble = preamble;
    this.#parameters = parameters;
    this.#ownText = statement.text;
  }

  override prepare(connection: Connection): void {
    this.#ownName = this.name;
    const { text } = this.#preamble;
    // If the query has no name, the preamble gets none either.
    const name = this.name ? this.#preamble.name : '';
    const { parsedStatements, submittedNamedStatements: submitted } = connection;
    if (!name || (parsedStatements[name] === undefined && submitted[name] === undefined)) {
      connection.parse({ name, text });
      if (name) submitted[name] = text;
    }
    connection.bind({ statement: name, values: this.#parameters, valueMapper: asIs });
    connection.execute(EXECUTE_ALL);
    super.prepare(connection);
    // pg records a statement as prepared when the server confirms it; the first confirmation is for the preamble.
    this.name = name;
    this.text = text;
  }

  override handleDataRow(message: unknown): void {
    if (this.#hasEntered) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.#hasEntered) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.#hasEntered = true;
    this.name = this.#ownName;
    this.text = this.#ownText;
  }

  override handleError(error: Error, connection: Connection): void {
    for (const name of [this.#preamble.name, this.#ownName ?? '']) {
      delete connection.submittedNamedStatements[name];
    }
    super.handleError(error, connection);
  }
}
