import { type MeasuredProcess, middle, responsesIn, type Side } from '../comparison.ts';
import type { Listening } from '../floors/listening.ts';
import { type Load, median } from '../load/plan.ts';
import { type Program, startProgram } from '../program.ts';
import { type Result, requireResponses, UnexpectedResponses } from '../scenario.ts';
import type { Statement } from '../statement.ts';
import type { ScaleBench, ScaleTenant } from './bench.ts';

/** Enough to keep two cores busy; with more, slow requests would mostly wait for each other. */
const CONNECTIONS = 8;
const ROUND_SECONDS = 1;
/** The targets of requests to a large tenant. */
const MIN_RATIO = 0.8;
const MAX_SLOWDOWN = 2;

/** A list request to a tenant, beside hand-written SQL. */
export interface ListCase {
  readonly what: string;
  readonly tenant: ScaleTenant;
  /** Path and query below `/api/crm/`. */
  readonly path: string;
  /** Returns the same rows, each with the total of the list as `total`; one row without an id if there are none. */
  readonly statement: Statement;
  /** The same request to the tenant with few rows; not compared if absent. */
  readonly referencePath?: string | undefined;
  /** Whether that must not be more than two times faster. */
  readonly isBounded?: boolean;
  /**
   * Fails unless the answer to the request and the rows of the statement are the same. Default: both have the same
   * records in the same order, and the same total.
   */
  readonly check?: (answer: never, rows: never) => void;
}

const listUrl = ({ system }: ScaleBench, path: string): string =>
  `${system.stack.crm.url}/api/crm/${path}`;

const authorization = ({ token }: ScaleTenant): Record<string, string> => ({
  authorization: `Bearer ${token}`,
});

/**
 * Repeated measurements of a request for about a second each. Each waits for its last response, so that nothing of a
 * slow request is left to the next measurement.
 */
export const createSide = async (
  bench: ScaleBench,
  who: string,
  { request, cpu }: MeasuredProcess,
): Promise<Side> => {
  const send = async (amount: number): Promise<Load> => {
    const before = [await cpu(), await bench.databaseCpu()] as const;
    const measured = await bench.load.ask<Load>({ ...request, connections: CONNECTIONS, amount });
    requireResponses(who, measured);
    const perResponse = 1000 / responsesIn(measured);
    return {
      ...measured,
      cpu: perResponse * ((await cpu()) - before[0]),
      databaseCpu: perResponse * ((await bench.databaseCpu()) - before[1]),
    };
  };
  const amountFor = ({ rate }: Load, seconds: number): number =>
    CONNECTIONS * Math.max(1, Math.round((rate * seconds) / CONNECTIONS));
  if (bench.options.smoke) return () => send(CONNECTIONS);
  const cold = await send(CONNECTIONS);
  const warm = await send(amountFor(cold, ROUND_SECONDS / 2));
  const amount = amountFor(warm, ROUND_SECONDS);
  return () => send(amount);
};

interface Sides {
  readonly subject: Side;
  readonly floor: Side;
  readonly service: Side;
  readonly reference?: Side | undefined;
}

/** A row of the table from the sides' measurements in turns. */
const measure = async (
  { options }: ScaleBench,
  sides: Sides,
): Promise<Omit<Result, 'what' | 'target' | 'remark'>> => {
  const rounds: { subject: Load; floor: Load; service: Load; reference: Load | undefined }[] = [];
  const count = Math.max(1, Math.round(options.seconds / ROUND_SECONDS));
  while (rounds.length < count) {
    rounds.push({
      floor: await sides.floor(),
      subject: await sides.subject(),
      service: await sides.service(),
      reference: await sides.reference?.(),
    });
  }
  const references = rounds.flatMap(({ reference }) => reference ?? []);
  return {
    load: middle(rounds.map(({ subject }) => subject)),
    floor: middle(rounds.map(({ floor }) => floor)),
    ratio: median(rounds.map(({ subject, floor }) => subject.rate / floor.rate)),
    service: middle(rounds.map(({ service }) => service)),
    serviceRatio: median(rounds.map(({ subject, service }) => subject.rate / service.rate)),
    ...(references.length > 0 && {
      reference: middle(references),
      slowdown: median(
        rounds.map(({ subject, reference }) => (reference?.rate ?? 0) / subject.rate),
      ),
    }),
  };
};

const targetOf = (
  { isBounded = false }: ListCase,
  { ratio = 0, slowdown = 0 }: Pick<Result, 'ratio' | 'slowdown'>,
): NonNullable<Result['target']> => ({
  text: isBounded ? `≥ ${MIN_RATIO}, ≤ ${MAX_SLOWDOWN} ×` : `≥ ${MIN_RATIO}`,
  isMet: ratio >= MIN_RATIO && (!isBounded || slowdown <= MAX_SLOWDOWN),
});

interface List {
  readonly data: readonly { readonly id: string }[];
  readonly meta: { readonly total: number };
}

interface Rows {
  readonly data: readonly { readonly id: string | null; readonly total: number }[];
}

const answerOf = async <T>(url: string, headers: Record<string, string> = {}): Promise<T> =>
  (await (await fetch(url, { headers })).json()) as T;

/** Fails unless both return the same records in the same order, and the same total. */
const requireSamePage = (what: string, list: List, rows: Rows): void => {
  const ids = list.data.map(({ id }) => id);
  const expected = rows.data.flatMap(({ id }) => id ?? []);
  if (ids.join() !== expected.join()) {
    throw new UnexpectedResponses(`${what}: the floor has ${expected}, the list ${ids}`);
  }
  const total = rows.data[0]?.total ?? 0;
  if (list.meta.total !== total) {
    throw new UnexpectedResponses(`${what}: the floor's total is ${total}, not ${list.meta.total}`);
  }
};

/** A program that runs the statements of the cases, at the path of each. */
interface Floor {
  readonly program: Program;
  readonly url: string;
}

/** The statements in a bare Express route, and in a route of a service. */
interface Floors {
  readonly bare: Floor;
  readonly service: Floor;
}

/** Measures one case, whose statement is at `path` of the floors. */
const measureCase = async (
  bench: ScaleBench,
  { bare, service }: Floors,
  path: string,
  list: ListCase,
): Promise<Result> => {
  const { what, tenant, referencePath } = list;
  const url = listUrl(bench, list.path);
  const headers = authorization(tenant);
  const answer = await answerOf<List>(url, headers);
  const rows = await answerOf<Rows>(`${bare.url}${path}`);
  if (list.check) list.check(answer as never, rows as never);
  else requireSamePage(what, answer, rows);
  const cpu = () => bench.system.cpu('crm');
  const floorSide = (name: string, floor: Floor): Promise<Side> =>
    createSide(bench, `${name} of ${what}`, {
      request: { url: `${floor.url}${path}`, headers },
      cpu: async () => (await floor.program.ask<Listening>({})).cpuSeconds,
    });
  const reference = referencePath !== undefined && {
    request: { url: listUrl(bench, referencePath), headers: authorization(bench.reference) },
    cpu,
  };
  const measured = await measure(bench, {
    subject: await createSide(bench, what, { request: { url, headers }, cpu }),
    floor: await floorSide('the floor', bare),
    service: await floorSide('the service', service),
    reference: reference ? await createSide(bench, `${what}, few rows`, reference) : undefined,
  });
  return { what, ...measured, target: targetOf(list, measured) };
};

/**
 * Measures list requests, each beside its statement in a bare Express route, and in a route of a service that does
 * nothing else.
 */
export const besideSql = async (
  bench: ScaleBench,
  cases: readonly ListCase[],
): Promise<readonly Result[]> => {
  const statements = cases.map(({ statement }, at) => [`/${at}`, statement] as const);
  const { stack } = bench.system;
  const environment = {
    DATABASE_URL: stack.postgres.url('crm'),
    STATEMENTS: JSON.stringify(Object.fromEntries(statements)),
    SCHEMA: 'tenant_crm',
    IDENTITY_URL: stack.identity.url,
    KAFKA_BROKER: `127.0.0.1:${stack.broker.port}`,
  };
  const programs = ['floors/express', 'floors/service'].map((module) =>
    startProgram(module, environment),
  ) as [Program, Program];
  try {
    const [bare, service] = (await Promise.all(
      programs.map(async (program) => ({ program, url: (await program.ask<Listening>({})).url })),
    )) as [Floor, Floor];
    const results: Result[] = [];
    for (const [at, list] of cases.entries()) {
      const result = await measureCase(bench, { bare, service }, `/${at}`, list);
      if (!bench.options.smoke) console.error(summary(result));
      results.push(result);
    }
    return results;
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
};

/** Progress of a long run: `contacts, first page: 0.93 of 1200/s, 1.1 times slower`. */
const summary = ({ what, floor, ratio, serviceRatio, slowdown }: Result): string =>
  `  ${what}: ${ratio?.toFixed(2)} of ${floor?.rate.toFixed(0)}/s, ${serviceRatio?.toFixed(2)} of a service` +
  (slowdown === undefined ? '' : `, ${slowdown.toFixed(2)} × as slow as with few rows`);
