import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { completedRecords } from '../../records/completed-records.ts';
import { typesOfAttempts } from './attempts.repository.ts';
import type { WebhookAttempts } from './deliveries.kind.ts';
import { maySeeType } from './event-permissions.ts';

/** A receiver may return the record that it got: its responses are shown to callers who may see the record. */
export const withShownResponses = (
  attempts: WebhookAttempts,
  { forTenant }: Pick<Database, 'forTenant'>,
): WebhookAttempts => {
  const hidden = { response_headers: null, response_body: null };
  return completedRecords(attempts, {
    async complete(caller: Caller, answers) {
      const ids = answers.map(({ id }) => id);
      const types = await typesOfAttempts(forTenant(caller.tenantId), ids);
      return answers.map((answer) => {
        const type = types.get(answer.id);
        const isShown = type !== undefined && maySeeType(caller, type);
        return isShown ? answer : Object.assign({}, answer, hidden);
      });
    },
    revisionOf: ({ response_headers }) => (response_headers === null ? 0 : 1),
  });
};
