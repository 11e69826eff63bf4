import {
  badBodies,
  badPaths,
  badQueries,
  type Findings,
  foreignIds,
  withClientToken,
  withoutAccess,
  withoutPermission,
} from './checks.ts';
import { optionalCredentials, wrongCredentials } from './credentials.ts';
import {
  bodySchemaOf,
  type OpenApiDocument,
  type Operation,
  operationsOf,
  pathParametersOf,
} from './document.ts';
import { eventStreams, sendsEvents } from './event-streams.ts';
import { badFiles, fileAnswers, servesFile } from './files.ts';
import { foreignReferences } from './foreign-references.ts';
import { repeatedRequests, takesIdempotencyKey } from './idempotency.ts';
import { hasOptionalFieldsOnly, omittedBodies } from './omitted-bodies.ts';
import { referencesIn } from './references.ts';
import { fileOptionsOf } from './sample-file.ts';
import type { Subject } from './subject.ts';
import { unchangedUpdates, updatesWhatIsRead } from './unchanged-updates.ts';

/**
 * Declares the jest tests that apply to every operation of a document. Call it at the top of a test file.
 * `start` returns the running service, without its document; `stop` ends it. `isTested` selects operations; by
 * default all are tested.
 */
export const conformance = (
  document: OpenApiDocument,
  start: () => Promise<Omit<Subject, 'document'>>,
  stop: () => Promise<void>,
  isTested: (operation: Operation) => boolean = () => true,
): void => {
  const operations = operationsOf(document).filter(isTested);
  const guarded = operations.filter((o) => o['x-permissions'] !== 'public');
  let subject: Subject;
  beforeAll(async () => {
    subject = { ...(await start()), document };
  });
  afterAll(stop);

  type Check = (subject: Subject, operation: (typeof operations)[number]) => Promise<Findings>;
  const each = (name: string, of: typeof operations, check: Check): void => {
    if (of.length === 0) return;
    describe(name, () => {
      test.each(of.map((o) => [o.id, o] as const))('%s', async (_id, operation) => {
        expect(await check(subject, operation)).toEqual([]);
      });
    });
  };

  test('every operation declares who may call it', () => {
    expect(withoutAccess(operations)).toEqual([]);
  });
  each('a missing or invalid credential is 401', guarded, wrongCredentials);
  each(
    'an invalid credential that may be missing is 401 if it is declared, and has no effect otherwise',
    operations.filter((o) => o['x-permissions'] === 'public'),
    optionalCredentials,
  );
  each(
    'a missing permission is 403 and named',
    guarded.filter((o) => (o['x-permissions'] ?? []).length > 0),
    withoutPermission,
  );
  each(
    "another tenant's ids in paths return no data and change nothing",
    guarded.filter((o) => pathParametersOf(o.path).length > 0),
    foreignIds,
  );
  each(
    "another tenant's ids in bodies are 422 and name the field",
    guarded.filter((o) => referencesIn(document, o).length > 0),
    foreignReferences,
  );
  each('the token of a client gets a success or a 4xx', guarded, withClientToken);
  each(
    'invalid bodies are 422 and name the field',
    operations.filter((o) => bodySchemaOf(o) !== undefined),
    badBodies,
  );
  each(
    'a body whose fields are all optional may be left out',
    operations.filter((o) => hasOptionalFieldsOnly(document, o)),
    omittedBodies,
  );
  each(
    'an update with the values that a resource has changes nothing',
    guarded.filter((o) => updatesWhatIsRead(document, o)),
    unchangedUpdates,
  );
  each(
    'a request repeated with its Idempotency-Key has no further effect',
    guarded.filter(takesIdempotencyKey),
    repeatedRequests,
  );
  each(
    'files of other types are 415, and files that are too large are 413',
    operations.filter((o) => fileOptionsOf(o) !== undefined),
    badFiles,
  );
  each(
    'files are sent in ranges, and a known version is 304',
    operations.filter(servesFile),
    fileAnswers,
  );
  each(
    'event streams begin immediately, after any last event id',
    operations.filter(sendsEvents),
    eventStreams,
  );
  each(
    'invalid queries are 422 and name the parameter',
    guarded.filter((o) => o.method === 'GET'),
    badQueries,
  );
  each(
    'invalid path parameters are 404',
    guarded.filter((o) => pathParametersOf(o.path).length > 0),
    badPaths,
  );
};
