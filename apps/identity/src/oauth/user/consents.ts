import { HttpError, notFound } from '@tessera/http-kit';
import type { Grant, Provider } from 'oidc-provider';
import type { Database } from '../../database.ts';
import type { Origin } from '../../origin.ts';
import { nothingUnheard, within } from './current.ts';
import { API_SCOPE, OIDC_SCOPES } from './grants.ts';
import { findWebSession, type WebSession } from './web-session.ts';

type Interaction = InstanceType<Provider['Interaction']>;

/** What a user is asked to allow. */
export interface ConsentRequest {
  readonly client: { readonly id: string; readonly name: string };
  /** Where the browser goes afterwards, for the user to recognise. */
  readonly redirectUri: string;
  /** `api` is everything that the user may do; the others are OpenID Connect's. */
  readonly scopes: readonly string[];
}

interface Asked {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly session: WebSession;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Asks a user whether a client that nobody vouches for may act for them (RFC 6749 section 4.1.1). Each
 * request is the business of the session that it came with: with any other, or none, it is 404. The
 * `secret` is the value of that session's cookie.
 */
export class Consents {
  readonly #database: Database;
  readonly #provider: () => Promise<Provider>;

  constructor(database: Database, provider: () => Promise<Provider>) {
    this.#database = database;
    this.#provider = provider;
  }

  /** What the request asks for. */
  show(uid: string, secret: string | undefined, origin: Origin): Promise<ConsentRequest> {
    return this.#asked(uid, secret, origin, async ({ provider, interaction }) => {
      const { client_id, redirect_uri, scope } = interaction.params;
      const client = await provider.Client.find(text(client_id));
      if (!client) throw notFound('The request');
      return {
        client: { id: client.clientId, name: text(client.name) },
        redirectUri: text(redirect_uri),
        scopes: text(scope).split(' '),
      };
    });
  }

  /** Allows it, now and for as long as the session lasts. Gives the address where the browser goes on. */
  accept(uid: string, secret: string | undefined, origin: Origin): Promise<string> {
    return this.#asked(uid, secret, origin, async ({ provider, interaction, session }) => {
      const clientId = text(interaction.params.client_id);
      const scopes = text(interaction.params.scope).split(' ');
      const grant: Grant = new provider.Grant({ clientId, accountId: session.userId });
      grant.addOIDCScope(OIDC_SCOPES.filter((scope) => scopes.includes(scope)));
      grant.addResourceScope(provider.issuer, API_SCOPE);
      const grantId = await grant.save();
      await this.#database.$executeRaw`
        UPDATE identity.sessions SET authorizations = coalesce(authorizations, '{}')
          || jsonb_build_object(${clientId}::text, jsonb_build_object('grantId', ${grantId}::text))
        WHERE id = ${session.id}::uuid`;
      interaction.result = { consent: { grantId } };
      await interaction.persist();
      return interaction.returnTo;
    });
  }

  /** Refuses it: the client gets `access_denied`. Gives the address where the browser goes on. */
  refuse(uid: string, secret: string | undefined, origin: Origin): Promise<string> {
    return this.#asked(uid, secret, origin, async ({ interaction }) => {
      interaction.result = { error: 'access_denied', error_description: 'the user refused' };
      await interaction.persist();
      return interaction.returnTo;
    });
  }

  async #asked<T>(
    uid: string,
    secret: string | undefined,
    origin: Origin,
    work: (asked: Asked) => Promise<T>,
  ): Promise<T> {
    const provider = await this.#provider();
    const db = this.#database;
    const session = secret === undefined ? undefined : await findWebSession(db, secret);
    if (!session) throw notFound('The request');
    const { id: sessionId, userId, expiresAt } = session;
    const chain = { userId, sessionId, tenantId: null, name: null, expiresAt };
    return within({ db, origin, news: [], unheard: nothingUnheard(), session, chain }, async () => {
      const interaction = await provider.Interaction.find(uid);
      if (interaction?.session?.uid !== session.id) throw notFound('The request');
      if (interaction.result) {
        throw new HttpError(409, 'conflict', 'The request has been answered.');
      }
      return work({ provider, interaction, session });
    });
  }
}
