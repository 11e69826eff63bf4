import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { completedRecords } from '../../records/completed-records.ts';
import type { AnswerOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission } from '../../records/require-permission.ts';
import {
  type Comments,
  comment,
  type ModeratedComments,
  moderatedComment,
} from './comments.kind.ts';
import { countReplies, findAuthor } from './comments.repository.ts';
import { isAuthor, maySee } from './comments.visibility.ts';

type Answer = AnswerOf<typeof comment>;

const nothing = {
  body: null,
  body_html: null,
  user_id: null,
  client_id: null,
  moderated_by: null,
};

/** The place of a comment that the caller may not read. */
const masked = <A extends Answer>(caller: Caller, answer: A): A =>
  maySee(caller, answer) ? answer : Object.assign({}, answer, nothing);

/** Comments with their numbers of replies. */
export interface CommentService {
  /** The comments of one article. Lists keep the places of those that the caller may not read. */
  readonly comments: Comments;
  /** The comments of all articles that are not deleted. */
  readonly moderated: ModeratedComments;
}

export const createComments = (database: Database): CommentService => {
  const complete = async <A extends Answer>(
    caller: Caller,
    answers: readonly A[],
  ): Promise<A[]> => {
    const threads = answers.flatMap(({ id, thread_id }) => (thread_id === null ? [id] : []));
    const counts = await countReplies(database.forTenant(caller.tenantId), threads);
    return answers.map((answer) =>
      Object.assign({}, masked(caller, answer), { reply_count: counts.get(answer.id) ?? 0 }),
    );
  };

  const completion = {
    complete,
    revisionOf: ({ reply_count: count }: Answer) => count,
  };
  const comments = completedRecords(createRecords(comment, database), completion);

  const within: Comments['within'] = (...keys) => {
    const ofArticle = comments.within(...keys);
    return {
      ...ofArticle,

      // It has what the comment said before it was edited, hidden or deleted.
      async history(caller, id, query) {
        const changes = await ofArticle.history(caller, id, query);
        const author = await findAuthor(database.forTenant(caller.tenantId), id);
        if (!author || !isAuthor(caller, author)) {
          requirePermission(caller, 'kb_articles.moderate', { type: 'comment', id });
        }
        return changes;
      },
    };
  };
  return {
    comments: { ...comments, within },
    moderated: completedRecords(createRecords(moderatedComment, database), completion),
  };
};
