import type { Principal } from '@tessera/contracts';
import type { Predicate } from './coherent-fetches.ts';
import type { PolicyChange } from './policy-cache.ts';

/** A caller whose access is watched. */
interface Watch {
  readonly principal: Principal;
  /** The tenant that the caller acts in. */
  readonly tenantId: string;
  readonly changed: () => void;
}

/** Milliseconds between two checks of a token that has expired, until one of them fails. */
const EXPIRED_CHECK_MS = 500;
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Callers with open responses, told when an event of identity, or the expiry of their token, affects them. */
export class CallerWatches {
  readonly #clock: () => number;
  readonly #watches = new Set<Watch>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Calls `changed` whenever the access of a caller may have changed, until the returned function is called. */
  watch(principal: Principal, tenantId: string, changed: () => void): () => void {
    const watch = { principal, tenantId, changed };
    this.#watches.add(watch);
    const stopTimer = this.#onExpiry(principal, changed);
    return () => {
      this.#watches.delete(watch);
      stopTimer();
    };
  }

  /** Reports a change of the callers that `affects` selects. */
  principalsChanged(affects: Predicate<Principal>): void {
    for (const { principal, changed } of this.#watches) if (affects(principal)) changed();
  }

  /** Reports a change of policies. */
  policiesChanged({ tenantId, userIds }: PolicyChange): void {
    for (const watch of this.#watches) {
      const isAffected = userIds === null || userIds.includes(watch.principal.id);
      if (watch.tenantId === tenantId && isAffected) watch.changed();
    }
  }

  #onExpiry({ expires_at }: Principal, changed: () => void): () => void {
    if (expires_at === null) return () => undefined;
    let timer: NodeJS.Timeout;
    const check = (): void => {
      const left = expires_at.getTime() - this.#clock();
      if (left <= 0) changed();
      timer = setTimeout(check, Math.min(Math.max(left, EXPIRED_CHECK_MS), MAX_TIMEOUT_MS));
    };
    timer = setTimeout(check, 0);
    return () => clearTimeout(timer);
  }
}
