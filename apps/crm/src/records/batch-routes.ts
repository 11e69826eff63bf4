import { Slices } from '@tessera/fair-shares';
import {
  anything,
  bool,
  described,
  type Field,
  type FieldErrors,
  int,
  list,
  mapOf,
  named,
  type Out,
  oneOf,
  optional,
  shape,
  uuid,
  validate,
  withDefault,
} from '@tessera/fields';
import { type RouteEntry, validationFailed } from '@tessera/http-kit';
import type { Database } from '../database.ts';
import { type Caller, Problem, record, renderError } from '../http.ts';
import { type BatchOutcome, runBatch } from './batch.ts';
import { limitedAnswers } from './batch-answers.ts';
import {
  authorizeAny,
  authorizeOperations,
  type BatchOperation,
  type PreparedOperations,
  prepareOperations,
} from './batch-preparation.ts';
import type { Kind, KindTypes } from './kind.ts';
import type { Records } from './records.ts';
import { keysOf, viewableData } from './replays.ts';
import { createFrame, declare } from './route-frame.ts';
import { changeProblems } from './versions.ts';
import { viewable, viewableText } from './viewing.ts';

/** The largest number of operations in a batch. */
const MAX_OPERATIONS = 500;

const version = int(1, 2 ** 31 - 1);

const Operation = named(
  'BatchOperation',
  shape({
    op: oneOf('create', 'update', 'delete'),
    id: described(optional(uuid()), 'The record to update or delete'),
    version: described(
      optional(version),
      'The version that the update or deletion is meant for; another one is 412. Default: any.',
    ),
    body: described(
      optional(mapOf(anything(), 200)),
      'The fields to create or update, as in the operations for one record',
      { first_name: 'Ada' },
    ),
  }),
);

const BatchInput = named(
  'BatchInput',
  shape({
    atomic: described(
      withDefault(bool(), true),
      'Whether the first error undoes the whole batch; otherwise each operation succeeds or fails by itself.',
    ),
    operations: list(Operation, { min: 1, max: MAX_OPERATIONS }),
  }),
);

const resultOf = (answer: Field) =>
  shape({
    status: described(
      int(200, 499),
      'The status that the operation alone would have, or 413: its record does not fit into the response',
    ),
    version: optional(version),
    data: optional(answer),
    error: optional(Problem),
  });

const present = (outcome: BatchOutcome<unknown>) => {
  if ('error' in outcome) {
    const error = renderError(outcome.error) as { message: string; error: string };
    return { status: outcome.status, error };
  }
  if (!('record' in outcome)) return { status: outcome.status };
  const { answer: data, version: made } = outcome.record;
  return { status: outcome.status, version: made, data };
};

interface StoredResult {
  readonly status: number;
  readonly version?: number;
  readonly data?: object;
}

interface StoredBatch {
  readonly data: { readonly results: readonly StoredResult[] };
}

/** A batch whose operations have been checked. */
interface AcceptedBatch extends Out<typeof BatchInput> {
  readonly prepared: PreparedOperations;
}

/** The member of a body, if that is an object. */
const memberOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Readonly<Record<string, unknown>>)[name]
    : undefined;

const isOperation = (sent: unknown): sent is Pick<BatchOperation, 'op'> =>
  ['create', 'update', 'delete'].includes(memberOf(sent, 'op') as string);

const FIRST = 'operations.0';

/** Validates the members of operations, in slices. Throws 422. */
const validated = async (body: unknown): Promise<Out<typeof BatchInput>> => {
  const sent = memberOf(body, 'operations');
  const isList = Array.isArray(sent) && sent.length > 0 && sent.length <= MAX_OPERATIONS;
  const [first, ...others]: unknown[] = isList ? sent : [undefined];
  const batch = validate(BatchInput, isList ? { ...(body as object), operations: [first] } : body);
  if (!batch.ok) throw validationFailed(batch.errors);
  const slices = new Slices();
  const { operations } = batch.value;
  for (const other of others) {
    await slices.next();
    const one = validate(BatchInput, { operations: [other] });
    if (one.ok) operations.push(...one.value.operations);
    else throw validationFailed(renamed(one.errors, operations.length));
  }
  return batch.value;
};

/** The errors of the only operation of a batch, named as those of the operation with this index. */
const renamed = (errors: FieldErrors, index: number): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors).map(([field, messages]) => [
      field.replace(FIRST, `operations.${index}`),
      messages.map((message) => message.replace(FIRST, `operations.${index}`)),
    ]),
  );

/** `POST .../batch`: up to 500 creates, updates and deletions, in order. */
export const batchRoute = <T extends KindTypes>(
  kind: Kind<T>,
  records: Records<T>,
  database: Pick<Database, 'transaction'>,
): RouteEntry => {
  const { all, answer } = createFrame(kind, records);
  const words = kind.table.replaceAll('_', ' ');
  return declare({
    path: `${all}/batch`,
    method: 'post',
    // Each operation needs the permission of its verb (decision C22).
    permission: 'authenticated',
    resource: kind.name,
    isIdempotent: true,
    summary: `Create, update and delete ${words}`,
    description: `Up to ${MAX_OPERATIONS} operations in order, with at most 30,000 values together; each needs the permission of its verb. Callers who have none of these permissions get 403 whatever they send. The results are in the order of the operations. Errors name the operation: \`operations.3.body.email\`. ${viewableText(kind)} Those that the request has created are shown.`,
    body: BatchInput,
    responses: {
      200: record(
        shape({ results: list(resultOf(viewable(kind, answer)), { max: MAX_OPERATIONS }) }),
      ),
    },
    problems: {
      ...changeProblems,
      404: 'A record of an atomic batch does not exist, or the caller does not see a record of an earlier request with the `Idempotency-Key` any more',
      409: 'An operation of an atomic batch conflicts with the state of its record',
      413: 'The body is too large, or the records of an atomic batch are: send fewer operations at a time',
    },
    authorizeCaller: (caller) => authorizeAny(kind as unknown as Kind, caller as Caller),
    async acceptBody({ caller, body: sent }): Promise<AcceptedBatch> {
      const options = { kind: kind as unknown as Kind, caller: caller as Caller };
      // By their names alone, before anything else of them is read.
      const named = memberOf(sent, 'operations');
      if (memberOf(sent, 'atomic') !== false && Array.isArray(named)) {
        const known = [...named.slice(0, MAX_OPERATIONS).entries()].flatMap(([index, one]) =>
          isOperation(one) ? [[index, { op: one.op }] as const] : [],
        );
        authorizeOperations(options.kind, options.caller, known);
      }
      const body = await validated(sent);
      const prepared = await prepareOperations(body.operations, {
        ...options,
        isAtomic: body.atomic,
      });
      return { ...body, prepared };
    },
    handler: async ({ caller, body, reply }) => {
      const { atomic: isAtomic, prepared } = body as AcceptedBatch;
      const outcomes = await database.transaction(caller.tenantId, (db) =>
        runBatch(db, caller, prepared, { kind, records: limitedAnswers(records), isAtomic }),
      );
      return reply(200, { data: { results: outcomes.map(present) } } as never);
    },
    async authorizeReplay({ caller, body: { operations }, response }) {
      const { results } = (response as StoredBatch).data;
      // An operation that was denied has no record in the response.
      const shown = [...operations.entries()].filter(([index]) => results[index]?.status !== 403);
      authorizeOperations(kind as unknown as Kind, caller as Caller, shown);
      const answers = results.flatMap(({ data }) => data ?? []);
      await records.requireVisible(caller, keysOf(kind, answers));
      const shownNow = results.map(({ data, ...result }) => {
        if (!data || result.status === 201) return { ...result, data };
        return { ...result, data: viewableData(kind, caller, data, result.version ?? 1) };
      });
      return { data: { results: shownNow } };
    },
  });
};
