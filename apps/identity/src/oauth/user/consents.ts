import { HttpError, notFound } from '@tessera/http-kit';
import type { Client, Provider } from 'oidc-provider';
import { note } from '../../activity/activity.ts';
import type { Database } from '../../database.ts';
import type { Origin } from '../../origin/origin.ts';
import type { SessionUses } from '../../tokens/session-uses.ts';
import { returnUrlOfStored } from './authorize.ts';
import { actingTenantId, isAdmitted } from './grant.ts';
import { createUncertainCommits, type RequestContext, runInRequest } from './request-context.ts';
import { clientTenantId } from './stores/clients.ts';
import { recordConsent } from './stores/consents.ts';
import { findWebSession, type WebSession } from './stores/web-sessions.ts';

type Interaction = InstanceType<Provider['Interaction']>;

/** What a user is asked to allow. */
export interface ConsentRequest {
  readonly client: { readonly id: string; readonly name: string };
  /** Where the browser goes afterwards, shown to the user. */
  readonly redirectUri: string;
  /** The tenant that the client will act in; null if the user has none. */
  readonly tenant: { readonly id: string; readonly slug: string; readonly name: string } | null;
  readonly scopes: readonly string[];
  /** The URL of the authorization request, to continue it as another user. */
  readonly returnTo: string;
  /**
   * The URL to continue at if there is nothing to ask, because the request has been answered or the user has left the
   * tenant of the client, which then gets `access_denied`; null otherwise.
   */
  readonly goOnAt: string | null;
}

/** A stored request that waits for consent, with the session and client that it belongs to. */
interface PendingConsent {
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly session: WebSession;
  readonly client: Client;
}

/** Whether the user must still decide. A client whose tenant the user has left is refused without asking. */
const needsAnswer = ({
  interaction,
  session,
  client,
}: Pick<PendingConsent, 'interaction' | 'session' | 'client'>): boolean =>
  interaction.result === undefined && isAdmitted(session, clientTenantId(client));

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * Asks users whether a client that is not trusted may act for them (RFC 6749 section 4.1.1). Each request
 * belongs to the session that it was made with: 404 for any other session. `secret` is the value of the
 * session's cookie.
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

  /** What the client requests. */
  show(uid: string, secret: string | undefined, origin: Origin): Promise<ConsentRequest> {
    return this.#withPending(
      uid,
      secret,
      origin,
      async ({ provider, interaction, session, client }) => {
        const { redirect_uri, scope } = interaction.params;
        const isOpen = needsAnswer({ interaction, session, client });
        const id = isOpen ? actingTenantId(session, clientTenantId(client)) : null;
        return {
          client: { id: client.clientId, name: text(client.name) },
          redirectUri: text(redirect_uri),
          tenant: id === null ? null : await this.#database.tenant.findUnique({ where: { id } }),
          scopes: text(scope).split(' '),
          returnTo: returnUrlOfStored(provider.issuer, interaction.params),
          goOnAt: isOpen ? null : interaction.returnTo,
        };
      },
    );
  }

  /**
   * Records the user's consent, in the tenant that the user was shown (null: none), and returns the URL to
   * continue at. 409 if another tenant has become active since. The first answer to a request counts.
   */
  accept(
    uid: string,
    secret: string | undefined,
    origin: Origin,
    shownTenantId: string | null,
  ): Promise<string> {
    return this.#withPending(uid, secret, origin, async (pending) => {
      const { interaction, session, client } = pending;
      if (!needsAnswer(pending)) return interaction.returnTo;
      const { userId } = session;
      const tenantId = actingTenantId(session, clientTenantId(client));
      if (tenantId !== shownTenantId) {
        throw new HttpError(
          409,
          'conflict',
          'Another tenant has become active. Review the request and allow it again.',
        );
      }
      const scopes = text(interaction.params.scope).split(' ');
      await this.#database.$transaction(async (tx) => {
        await recordConsent(tx, { userId, clientId: client.clientId }, { tenantId, scopes });
        await note(tx, { userId, tenantId, ...origin }, 'application_allowed');
      });
      interaction.result = { consent: {} };
      await interaction.persist();
      return interaction.returnTo;
    });
  }

  /**
   * Refuses: the client gets `access_denied`, unless the request has already been answered. Returns the URL to continue
   * at.
   */
  refuse(uid: string, secret: string | undefined, origin: Origin): Promise<string> {
    return this.#withPending(uid, secret, origin, async (pending) => {
      const { interaction } = pending;
      if (!needsAnswer(pending)) return interaction.returnTo;
      interaction.result = { error: 'access_denied', error_description: 'the user refused' };
      await interaction.persist();
      return interaction.returnTo;
    });
  }

  /** The URL that begins a request again, in any session; null if the request is not stored any more. */
  async beginAgainAt(uid: string, origin: Origin): Promise<string | null> {
    const provider = await this.#provider();
    const interaction = await runInRequest(this.#context(origin), () =>
      provider.Interaction.find(uid),
    );
    return interaction ? returnUrlOfStored(provider.issuer, interaction.params) : null;
  }

  #context(origin: Origin): RequestContext {
    const uncertainCommits = createUncertainCommits();
    const sessionUses = this.#sessionUses;
    return { db: this.#database, origin, events: [], uncertainCommits, sessionUses };
  }

  async #withPending<T>(
    uid: string,
    secret: string | undefined,
    origin: Origin,
    work: (pending: PendingConsent) => Promise<T>,
  ): Promise<T> {
    const provider = await this.#provider();
    const { idleAfter } = this.#sessionUses;
    const session =
      secret === undefined ? undefined : await findWebSession(this.#database, secret, idleAfter);
    if (!session) throw notFound('The request');
    const { id: sessionId, userId, expiresAt } = session;
    const chain = { userId, sessionId, tenantId: null, name: null, expiresAt };
    return runInRequest({ ...this.#context(origin), session, chain }, async () => {
      const interaction = await provider.Interaction.find(uid);
      if (interaction?.session?.uid !== session.id) throw notFound('The request');
      const client = await provider.Client.find(text(interaction.params.client_id));
      if (!client) throw notFound('The request');
      return work({ provider, interaction, session, client });
    });
  }
}
