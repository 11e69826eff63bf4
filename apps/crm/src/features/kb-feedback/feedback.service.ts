import { requireUser } from '@tessera/resource-server';
import type { Database, TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import type { AnswerOf, InputOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { createAccess } from '../../records/scope.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { shown } from '../../records/viewing.ts';
import { type FeedbackRecords, feedback } from './feedback.kind.ts';
import { findVote } from './feedback.repository.ts';

type Vote = AnswerOf<typeof feedback>;

/** The votes of readers on articles. 404 unless the caller sees the article; 403 `user_required` for clients. */
export interface FeedbackService {
  readonly votes: FeedbackRecords;
  /** The caller's own vote; null without one. */
  own(caller: Caller, articleId: string): Promise<Vote | null>;
  /** Votes, or changes the caller's vote. */
  vote(caller: Caller, articleId: string, input: InputOf<typeof feedback>): Promise<Vote>;
  /** Removes the caller's vote, if there is one. */
  withdraw(caller: Caller, articleId: string): Promise<void>;
}

export const createFeedback = (database: Database): FeedbackService => {
  const votes = createRecords(feedback, database);
  const accessTo = createAccess(feedback, database);

  /** 404 unless the caller sees the article. */
  const requireArticle = async (caller: Caller, articleId: string): Promise<void> => {
    await accessTo(articleId).open(caller);
  };

  /** Works on the caller's vote while no other request of theirs does. */
  const change = <R>(
    caller: Caller,
    articleId: string,
    work: (id: string | undefined) => Promise<R>,
  ): Promise<R> =>
    database.transaction(caller.tenantId, async (db: TenantDb) => {
      const userId = requireUser(caller);
      await lockUntilEnd(db, `kb_article_feedback ${db.tenantId} ${articleId} ${userId}`);
      return work(await findVote(db, { articleId, userId }));
    });

  return {
    votes,

    async own(caller, articleId) {
      const db = database.forTenant(caller.tenantId);
      const id = await findVote(db, { articleId, userId: requireUser(caller) });
      if (id !== undefined) return (await votes.within(articleId).get(caller, id)).answer;
      await requireArticle(caller, articleId);
      return null;
    },

    vote: (caller, articleId, input) =>
      change(caller, articleId, async (id) => {
        const ofArticle = votes.within(articleId);
        const changed = id
          ? shown(await ofArticle.update(caller, id, input))
          : await ofArticle.create(caller, input);
        return changed.answer;
      }),

    withdraw: (caller, articleId) =>
      change(caller, articleId, async (id) => {
        if (id === undefined) await requireArticle(caller, articleId);
        else await votes.within(articleId).delete(caller, id);
      }),
  };
};
