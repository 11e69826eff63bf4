import type { Policies } from '@tessera/contracts';
import { type Deferred, deferred } from '@tessera/local-stack';
import type { IdentityResult } from '../identity-client.ts';
import { type Holder, PolicyCache } from '../policy-cache.ts';
import type { StreamState } from '../stream.ts';

export const HOUR = 3_600_000;
const PERMISSION = 'tenant.acme.crm.contacts.list';

export const holder = (
  userId = 'ada',
  version: number | null = null,
  tenantId = 'acme-id',
): Holder => ({
  userId,
  tenantId,
  version,
});

export const allowing = (version?: number): IdentityResult<Policies> => ({
  outcome: 'answered',
  value: {
    policies: [{ action: PERMISSION, effect: 'allow' }],
    ...(version !== undefined && { version }),
  },
});
export const denying = (version?: number): IdentityResult<Policies> => ({
  outcome: 'answered',
  value: { policies: [], ...(version !== undefined && { version }) },
});

/** A policy cache with an identity whose answers the test controls. */
export const createTestPolicyCache = (lifetime = HOUR) => {
  const asked: { token: string; answer: Deferred<IdentityResult<Policies>> }[] = [];
  const world = { stream: 'connected' as StreamState, now: 1_000_000 };
  const cache = new PolicyCache({
    fetch(token) {
      const answer = deferred<IdentityResult<Policies>>();
      asked.push({ token, answer });
      return answer.promise;
    },
    stream: () => world.stream,
    clock: () => world.now,
    lifetime,
  });
  /** Whether the permission is allowed, or the outcome if there is no answer. */
  const allows = async (of = holder(), token = 'token'): Promise<boolean | string> => {
    const answer = await cache.get(of, token);
    return answer.outcome === 'answered' ? answer.value(PERMISSION) : answer.outcome;
  };
  const reply = async (index: number, answer: IdentityResult<Policies>): Promise<void> => {
    while (!asked[index]) await new Promise(setImmediate);
    asked[index].answer.resolve(answer);
  };
  const learn = async (answer: IdentityResult<Policies>, of = holder()) => {
    const result = allows(of);
    await reply(asked.length - 1, answer);
    return result;
  };
  const event = (version: number, userIds: string[] | null = null, tenantId = 'acme-id') =>
    cache.evict({ tenantId, version, userIds });
  return { cache, asked, world, allows, reply, learn, event };
};
