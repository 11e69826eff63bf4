import pg from 'pg';
import { type Statement, statementName } from './statements.ts';

/** The part of pg's connection that a query is sent with. */
interface Connection {
  /** By name, the texts of statements that the server has prepared, and of those that were sent to it. */
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

/** The part of `pg.Query` that its types leave out. */
interface SentQuery {
  name: string | undefined;
  text: string;
  prepare(connection: Connection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => SentQuery & pg.Submittable;

/** A statement that makes settings local to its transaction. */
export interface Preamble {
  /** The name it is prepared under; every connection must know it by the same text. */
  readonly name: string;
  readonly text: string;
}

const asIs = (value: string): string => value;
const EXECUTE_ALL = { portal: '', rows: 0 } as const;

/**
 * A statement with a preamble. Both are sent before one Sync, which makes them one transaction (PostgreSQL
 * manual, "Extended Query"): the settings of the preamble end with the query, and it needs no round trip of its
 * own. `parameters` are those of the preamble.
 */
export class TenantQuery extends Query {
  readonly #preamble: Preamble;
  readonly #parameters: readonly string[];
  #ownName: string | undefined;
  readonly #ownText: string;
  #hasEntered = false;

  constructor({ text, values }: Statement, preamble: Preamble, parameters: readonly string[]) {
    const config = { name: statementName(text), text, values, queryMode: 'extended' };
    super(config as pg.QueryConfig);
    this.#preamble = preamble;
    this.#parameters = parameters;
    this.#ownText = text;
  }

  override prepare(connection: Connection): void {
    this.#ownName = this.name;
    const { text } = this.#preamble;
    // Without named statements this one has no name either.
    const name = this.name ? this.#preamble.name : '';
    const { parsedStatements, submittedNamedStatements: submitted } = connection;
    if (!name || (parsedStatements[name] === undefined && submitted[name] === undefined)) {
      connection.parse({ name, text });
      if (name) submitted[name] = text;
    }
    connection.bind({ statement: name, values: this.#parameters, valueMapper: asIs });
    connection.execute(EXECUTE_ALL);
    super.prepare(connection);
    // pg notes a statement as prepared when the server says so: at first that is about the preamble.
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
