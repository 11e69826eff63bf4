import type {
  ClientCredentials,
  ClientToken,
  IdentityClient,
  IdentityResult,
} from './identity-client.ts';

/** The only permission that the service's own client needs: reading the rights of principals. */
const SCOPE = 'identity.principals.view';
/** How long before its expiry a token is replaced, in milliseconds. */
const MARGIN_MS = 30_000;

export interface ClientTokensOptions {
  readonly client: ClientCredentials;
  readonly identity: Pick<IdentityClient, 'clientToken'>;
  /** Milliseconds since the epoch. */
  clock(): number;
}

/** The access token of a service's own client, which is kept until shortly before it expires. */
export class ClientTokens {
  readonly #options: ClientTokensOptions;
  #known: { readonly token: string; readonly replaceAt: number } | undefined;
  #requested: Promise<IdentityResult<ClientToken>> | undefined;

  constructor(options: ClientTokensOptions) {
    this.#options = options;
  }

  /** Calls `ask` with a token, and once more with a new one if identity rejects it. */
  async using<T>(ask: (token: string) => Promise<IdentityResult<T>>): Promise<IdentityResult<T>> {
    const first = await this.#token();
    if (first.outcome !== 'answered') return first;
    const answer = await ask(first.value);
    if (answer.outcome !== 'rejected') return answer;
    if (this.#known?.token === first.value) this.#known = undefined;
    const second = await this.#token();
    return second.outcome === 'answered' ? ask(second.value) : second;
  }

  async #token(): Promise<IdentityResult<string>> {
    const { client, clock, identity } = this.#options;
    if (this.#known && clock() < this.#known.replaceAt) {
      return { outcome: 'answered', value: this.#known.token };
    }
    this.#requested ??= identity.clientToken(client, SCOPE).finally(() => {
      this.#requested = undefined;
    });
    const requestedAt = clock();
    const answer = await this.#requested;
    if (answer.outcome !== 'answered') return answer;
    const { token, expiresIn } = answer.value;
    this.#known = { token, replaceAt: requestedAt + expiresIn * 1000 - MARGIN_MS };
    return { outcome: 'answered', value: token };
  }
}
