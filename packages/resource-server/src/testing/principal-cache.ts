import { createPrincipal, type Principal } from '@tessera/contracts';
import { type Deferred, deferred } from '@tessera/local-stack';
import type { IdentityResult } from '../identity-client.ts';
import { PrincipalCache } from '../principal-cache.ts';
import type { StreamState } from '../stream.ts';

const TENANT = 'tenant-1';

export const principal = (given: Partial<Principal> = {}): Principal =>
  createPrincipal({
    id: 'ada',
    tenant_id: TENANT,
    tenants: [{ id: TENANT, slug: 'acme', name: 'Acme', plan: null, is_active: true }],
    token_id: 'jti',
    session_id: 'sid',
    ...given,
  });

export const answered = (value: Principal): IdentityResult<Principal> => ({
  outcome: 'answered',
  value,
});

/** A principal cache with an identity whose answers the test controls. */
export const createTestPrincipalCache = () => {
  const asked: {
    token: string;
    tenant: string | undefined;
    answer: Deferred<IdentityResult<Principal>>;
  }[] = [];
  const world = { stream: 'connected' as StreamState, now: 1_000_000 };
  const principals = new PrincipalCache({
    fetch(token, tenant) {
      const answer = deferred<IdentityResult<Principal>>();
      asked.push({ token, tenant, answer });
      return answer.promise;
    },
    stream: () => world.stream,
    clock: () => world.now,
    lifetime: 15_000,
  });
  const of = async (token: string, tenant?: string): Promise<IdentityResult<string>> => {
    const answer = await principals.get(token, tenant);
    return answer.outcome === 'answered' ? { ...answer, value: answer.value.principal.id } : answer;
  };
  /** The request with this index, once it was sent. */
  const question = async (index: number) => {
    while (!asked[index]) await new Promise(setImmediate);
    return asked[index];
  };
  const reply = async (index: number, answer: IdentityResult<Principal>): Promise<void> =>
    (await question(index)).answer.resolve(answer);
  const learn = async (token: string, given?: Partial<Principal>, tenant?: string) => {
    const result = of(token, tenant);
    await reply(asked.length - 1, answered(principal(given)));
    return result;
  };
  return { principals, asked, world, of, question, reply, learn };
};
