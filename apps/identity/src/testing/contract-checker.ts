import { type Observer, observeResponses } from '@tessera/conformance';
import { parsePolicies, parsePrincipal } from '@tessera/contracts';

type Read = (body: unknown) => unknown;

const readers = new Map<string, Read>([
  ['/api/user', parsePrincipal],
  ['/api/policies', parsePolicies],
]);

/** Times come out of the contract as `Date`s. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** What identity says and services would not learn from it; undefined where they learn all of it. */
const lossOf = (path: string, read: Read, payload: string): string | undefined => {
  const body = JSON.parse(payload);
  const known = asJson(read(body)) as Record<string, unknown> | null;
  if (known === null) return 'which services refuse';
  const sent: Record<string, unknown> =
    path === '/api/user' ? body.data : { policies: body.data, version: body.meta.version };
  const lost = Object.keys(sent).filter(
    (key) => JSON.stringify(sent[key] ?? null) !== JSON.stringify(known[key] ?? null),
  );
  return lost.length > 0 ? `of which services misread ${lost.join(', ')}` : undefined;
};

export interface ContractChecker {
  readonly observe: Observer;
  /** Throws where services would not understand one of the answers. */
  verify(): void;
}

/**
 * Reads every answer that services ask identity for the way they do. A contract that is narrower than
 * what identity answers would cost the callers behind those answers their access.
 */
export const createContractChecker = (): ContractChecker => {
  const findings: string[] = [];
  return {
    observe: observeResponses((res, payload) => {
      const path = res.req.url?.split('?', 1)[0] ?? '';
      const read = readers.get(path);
      if (!read || res.req.method !== 'GET' || res.statusCode !== 200) return;
      const loss = lossOf(path, read, payload);
      if (loss) findings.push(`${path} answered ${payload.slice(0, 300)}, ${loss}`);
    }),
    verify() {
      if (findings.length > 0) throw new Error(`Not as contracts read it:\n${findings.join('\n')}`);
    },
  };
};
