import type { Findings } from './checks.ts';
import type { Operation } from './document.ts';
import { addressOf, authorizedHeaders, createResources, type Subject } from './subject.ts';

/** Whether an operation responds with server-sent events. */
export const sendsEvents = (operation: Operation): boolean =>
  operation.responses[200]?.content?.['text/event-stream'] !== undefined;

/** An event stream must begin immediately, must not be cached, and must accept any last event id. */
export const eventStreams = async (subject: Subject, operation: Operation): Promise<Findings> => {
  const parameters = await createResources(subject, operation.path, 'own');
  const headers = await authorizedHeaders(subject, operation);
  const findings: Findings = [];
  for (const id of [undefined, 'nothing-has-this-id', 'x'.repeat(1000)]) {
    const closed = new AbortController();
    const response = await fetch(addressOf(subject, operation, parameters), {
      headers: { ...headers, ...(id !== undefined && { 'last-event-id': id }) },
      signal: closed.signal,
    });
    const [type] = (response.headers.get('content-type') ?? '').split(';');
    const cache = response.headers.get('cache-control') ?? '';
    const isRight =
      response.status === 200 && type === 'text/event-stream' && /no-store|no-cache/.test(cache);
    const reader = response.body?.getReader();
    const first = isRight ? await reader?.read() : undefined;
    if (!isRight || !first?.value?.length) {
      findings.push(
        `${operation.id} after the event ${id?.slice(0, 20)}: ${response.status} ${type} ${cache}`,
      );
    }
    closed.abort();
  }
  return findings;
};
