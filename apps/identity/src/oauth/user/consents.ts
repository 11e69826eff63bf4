import { HttpError, notFound } from '@tessera/http-kit';
import type { Client, Provider } from 'oidc-provider';
import { note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { SessionUses } from '../../tokens/session-uses.ts';
import { returnAddress } from './authorize-request.ts';
import { tenantOf } from './clients.ts';
import { rememberConsent } from './consent-store.ts';
import { nothingUnheard, within } from './current.ts';
import { tenantFor } from './grants.ts';
import { findWebSession, type WebSession } from './web-session.ts';

type Interaction = InstanceType<Provider['Interaction']>;

/** What a user is asked to allow. */
export interface ConsentRequest {
  readonly client: { readonly id: string; readonly name: string };
  /** Where the browser goes afterwards, for the user to recognise. */
  readonly redirectUri: string;
  /** The tenant that it is about; null where the user has none. */
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string } | null;
  readonly scopes: readonly string[];
  /** The authorization request, for somebody else to sign in and go on with. */
  readonly returnTo: string;
}

interface Asked {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly session: WebSession;
  readonly client: Client;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Asks a user whether a client that nobody vouches for may act for them (RFC 6749 section 4.1.1). Each
 * request belongs to the session that it came with: with any other, or none, it is 404. The `secret` is the
 * value of that session's cookie.
 */
export class Consents {
  readonly #database: Database;
  readonly #sessionUses: SessionUses;
  readonly #provider: () => Promise<Provider>;

  constructor(database: Database, sessionUses: SessionUses, provider: () => Promise<Provider>) {
    this.#database = database;
    this.#sessionUses = sessionUses;
    this.#provider = provider;
  }

  /** What the request asks for. */
  show(uid: string, secret: string | undefined, origin: Origin): Promise<ConsentRequest> {
    return this.#asked(uid, secret, origin, async ({ provider, interaction, session, client }) => {
      const { redirect_uri, scope } = interaction.params;
      const id = tenantFor(session, tenantOf(client));
      return {
        client: { id: client.clientId, name: text(client.name) },
        redirectUri: text(redirect_uri),
        tenant: id === null ? null : await this.#database.tenant.findUnique({ where: { id } }),
        scopes: text(scope).split(' '),
        returnTo: returnAddress(provider.issuer, interaction.params),
      };
    });
  }

  /**
   * Allows it until it is withdrawn, in the tenant that the user was shown (null: none). Gives the address
   * where the browser goes on. 409 where another tenant has become active since.
   */
  accept(
    uid: string,
    secret: string | undefined,
    origin: Origin,
    shownTenantId: string | null,
  ): Promise<string> {
    return this.#asked(uid, secret, origin, async ({ interaction, session, client }) => {
      const { userId } = session;
      const tenantId = tenantFor(session, tenantOf(client));
      if (tenantId !== shownTenantId) {
        throw new HttpError(
          409,
          'conflict',
          'Another tenant has become active. Check and allow it again.',
        );
      }
      const scopes = text(interaction.params.scope).split(' ');
      await this.#database.$transaction(async (tx) => {
        await rememberConsent(tx, { userId, clientId: client.clientId }, { tenantId, scopes });
        await note(tx, { userId, tenantId, ...origin }, 'application_allowed');
      });
      interaction.result = { consent: {} };
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
    const sessionUses = this.#sessionUses;
    const session =
      secret === undefined ? undefined : await findWebSession(db, secret, sessionUses.idleAfter);
    if (!session) throw notFound('The request');
    const { id: sessionId, userId, expiresAt } = session;
    const chain = { userId, sessionId, tenantId: null, name: null, expiresAt };
    return within(
      { db, origin, news: [], unheard: nothingUnheard(), session, chain, sessionUses },
      async () => {
        const interaction = await provider.Interaction.find(uid);
        if (interaction?.session?.uid !== session.id) throw notFound('The request');
        if (interaction.result) {
          throw new HttpError(409, 'conflict', 'The request has been answered.');
        }
        const client = await provider.Client.find(text(interaction.params.client_id));
        if (!client) throw notFound('The request');
        return work({ provider, interaction, session, client });
      },
    );
  }
}
