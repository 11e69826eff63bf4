import { type Actor, note } from '../../activity/activity.ts';
import type { Database, Transaction } from '../../database.ts';
import type { SecurityMails } from '../../mail/security-mails.ts';
import { enqueue } from '../../outbox/outbox.ts';
import { voidOneTimeTokens } from '../../tokens/one-time.ts';
import { revokeOtherTokens } from '../../tokens/revoke.ts';
import { lockUser } from '../../users/users.ts';
import type { DevicesService } from '../devices/devices.service.ts';

interface Dependencies {
  readonly database: Database;
  readonly devices: Pick<DevicesService, 'endTrust'>;
  readonly mails: SecurityMails;
}

export class DisputesRepository {
  readonly #use: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#use = dependencies;
  }

  async isEntryOf(userId: string, id: string): Promise<boolean> {
    return (await this.#use.database.activityEntry.count({ where: { id, userId } })) > 0;
  }

  /**
   * Records that the user disputes an entry (null: activity in general) and notifies them by mail.
   */
  async record(
    tx: Transaction,
    actor: Actor,
    entryId: string | null,
    by: 'password' | 'link',
  ): Promise<void> {
    const details = entryId === null ? {} : { subjectId: entryId };
    await note(tx, actor, 'activity_disputed', details);
    await this.#use.mails.notify(tx, actor.userId, { kind: 'account_secured', by }, actor);
  }

  /**
   * Revokes all other sessions and tokens, trust in devices, and a pending change of the email address.
   */
  async endOthers(
    actor: Actor,
    current: { readonly sessionId: string | null; readonly tokenId: string },
    entryId: string | null,
  ): Promise<void> {
    const { userId } = actor;
    const { sessionId, tokenId } = current;
    await this.#use.database.$transaction(async (tx) => {
      await lockUser(tx, userId);
      const all = { userId, sessionId, tokenId };
      const ended = await revokeOtherTokens(tx, all, 'activity_disputed');
      await this.#use.devices.endTrust(tx, userId);
      await voidOneTimeTokens(tx, 'email_change', { userId });
      await this.record(tx, actor, entryId, 'link');
      if (ended.length > 0) await enqueue(tx, ...ended);
    });
  }
}
