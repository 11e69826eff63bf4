import { bearerVariants, CONNECTIONS, compare } from '../comparison.ts';
import type { Listening } from '../floors/listening.ts';
import { startProgram } from '../program.ts';
import { type Bench, type Result, type Scenario, UnexpectedResponses } from '../scenario.ts';
import type { Statement } from '../statement.ts';
import type { Service } from '../system.ts';

export interface ListPage {
  readonly data: unknown;
}

export interface Route {
  readonly what: string;
  /** The request to the system. */
  readonly url: string;
  /** Tokens of callers, used in turn. */
  readonly tokens: readonly string[];
  /** The statement of the floor. */
  readonly database: Service;
  readonly statement: Statement;
  /** Whether the system's response equals that of the floor. */
  readonly isEquivalent?: (subject: ListPage, floor: ListPage) => boolean;
  readonly target: number;
}

const answerOf = async (url: string, headers: Record<string, string> = {}): Promise<ListPage> =>
  (await (await fetch(url, { headers })).json()) as ListPage;

/** Compares a data request with an Express route of one statement. */
export const besideExpress = async (
  bench: Bench,
  { what, url, tokens, database, statement, isEquivalent, target }: Route,
): Promise<readonly Result[]> => {
  const program = startProgram('floors/express', {
    DATABASE_URL: bench.system.stack.postgres.url(database),
    STATEMENTS: JSON.stringify({ '/data': statement }),
    ...(database === 'crm' && { SCHEMA: 'tenant_crm' }),
  });
  try {
    const floor = await program.ask<Listening>({});
    const subject = await answerOf(url, { authorization: `Bearer ${tokens[0]}` });
    if (isEquivalent && !isEquivalent(subject, await answerOf(`${floor.url}/data`))) {
      throw new UnexpectedResponses(`${what}: the floor answers something else`);
    }
    return [
      await compare(bench, {
        what,
        subject: {
          request: { url, variants: bearerVariants(tokens) },
          cpu: () => bench.system.cpu(database),
        },
        floor: {
          request: { url: `${floor.url}/data` },
          cpu: async () => (await program.ask<Listening>({})).cpuSeconds,
        },
        target,
      }),
    ];
  } finally {
    await program.stop();
  }
};

/** As many as there are concurrent requests, so that none benefits from the result of another. */
const tokensOf = ({ system, options }: Bench): Promise<string[]> =>
  Promise.all(
    Array.from({ length: options.smoke ? 2 : CONNECTIONS }, () => system.signIn('owner')),
  );

export const user: Scenario = {
  name: 'user',
  run: async (bench) =>
    besideExpress(bench, {
      what: 'GET /api/user',
      url: `${bench.system.stack.identity.url}/api/user`,
      tokens: await tokensOf(bench),
      database: 'identity',
      statement: {
        text: 'SELECT * FROM identity.users WHERE id = $1',
        values: [bench.system.stack.system.owner.user_id],
      },
      target: 0.6,
    }),
};
