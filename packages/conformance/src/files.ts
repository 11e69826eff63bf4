import type { Findings } from './checks.ts';
import type { Operation } from './document.ts';
import {
  bodyWithFile,
  type FileOptions,
  fileOptionsOf,
  isForm,
  matches,
  sampleFile,
  samples,
} from './sample-file.ts';
import {
  type ApiResponse,
  authorizedHeaders,
  call,
  createResources,
  type Subject,
} from './subject.ts';

const finding = (operation: Operation, what: string, answer: ApiResponse): string =>
  `${operation.id}, ${what}: ${answer.status} ${answer.text.slice(0, 300)}`;

/**
 * A file of another type must be a 415, a file that is too large a 413, a missing file a 422; nothing may be a
 * 5xx.
 */
export const badFiles = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const known = await subject.bodies?.[operation.id]?.('own');
  const bodyOf = (file: readonly [type: string, content: Buffer]) =>
    bodyWithFile(subject.document, operation, file, known);
  const { types, maxBytes } = fileOptionsOf(operation) as FileOptions;
  const parameters = await createResources(subject, operation.path, 'own');
  const headers = await authorizedHeaders(subject, operation);
  const findings: Findings = [];
  const demand = async (what: string, status: number, body: unknown): Promise<void> => {
    const answer = await call(subject, operation, { headers, parameters, body });
    const isDescribed = operation.responses[status] !== undefined;
    if (answer.status !== status || !isDescribed) findings.push(finding(operation, what, answer));
  };
  // Where files of any type are accepted, JSON is one.
  if (isForm(operation) || !types.includes('*/*')) {
    const isRefused = isForm(operation) || !matches(types, 'application/json');
    await demand('as JSON', isRefused ? 415 : 422, {});
  }
  for (const [type, content] of samples) {
    if (matches(types, type)) continue;
    await demand(`with ${type}`, 415, bodyOf([type, content]));
    const [declared] = sampleFile(operation);
    const disguised = bodyOf([declared, content]);
    await demand(`with ${type} that is declared as ${declared}`, 415, disguised);
  }
  // Larger limits are not tested, because sending such a body would take too long.
  if (maxBytes <= 64 * 1024 * 1024) {
    const [type, content] = sampleFile(operation);
    const large = Buffer.concat([content, Buffer.alloc(maxBytes + 1, ' ')]);
    await demand('too large', 413, bodyOf([type, large]));
  }
  const empty = isForm(operation)
    ? new FormData()
    : new Blob([], { type: sampleFile(operation)[0] });
  const answer = await call(subject, operation, { headers, parameters, body: empty });
  if (![400, 422].includes(answer.status))
    findings.push(finding(operation, 'without a file', answer));
  return findings;
};

/** Whether an operation responds with a file, of which clients may request a range. */
export const servesFile = (operation: Operation): boolean =>
  operation.responses[206] !== undefined && operation.responses[416] !== undefined;

/**
 * A range must be a 206 with exactly these bytes or a 416, a known version a 304, and HEAD must have no body.
 */
export const fileAnswers = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const parameters = await createResources(subject, operation.path, 'own');
  const own = await authorizedHeaders(subject, operation);
  const ask = (more: Record<string, string>, method?: string) =>
    call(subject, operation, {
      headers: { ...own, ...more },
      parameters,
      ...(method && { method }),
    });
  const whole = await ask({});
  const size = Number(whole.headers.get('content-length'));
  const etag = whole.headers.get('etag') ?? '';
  if (whole.status !== 200 || !(size > 0)) return [finding(operation, 'whole', whole)];
  const findings: Findings = [];
  const check = (what: string, answer: ApiResponse, isRight: boolean): void => {
    if (!isRight) findings.push(finding(operation, what, answer));
  };
  check('sniffing', whole, whole.headers.get('x-content-type-options') === 'nosniff');
  check('ranges', whole, whole.headers.get('accept-ranges') === 'bytes');
  check('name', whole, whole.headers.get('content-disposition') !== null);
  const first = await ask({ range: 'bytes=0-0' });
  const range = first.headers.get('content-range');
  check('its first byte', first, first.status === 206 && range === `bytes 0-0/${size}`);
  check('its first byte', first, first.headers.get('content-length') === '1');
  const beyond = await ask({ range: `bytes=${size}-` });
  const told = beyond.headers.get('content-range');
  check('beyond its end', beyond, beyond.status === 416 && told === `bytes */${size}`);
  check('a known version', whole, /^"[^"]+"$/.test(etag));
  const known = await ask({ 'if-none-match': etag });
  check('a known version', known, known.status === 304 && known.text === '');
  const other = await ask({ 'if-range': '"another"', range: 'bytes=0-0' });
  check('a range of another version', other, other.status === 200);
  const head = await ask({}, 'HEAD');
  const length = Number(head.headers.get('content-length'));
  check('HEAD', head, head.status === 200 && length === size && head.text === '');
  return findings;
};
