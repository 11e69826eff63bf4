import type { JobQueue } from '@tessera/background-work/jobs';
import type { Database } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { completedRecords } from '../../records/completed-records.ts';
import type { AnswerOf, InputOf } from '../../records/kind.ts';
import { createRecords } from '../../records/records.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { revisionOfAll } from '../../records/versions.ts';
import { type Changed, viewed } from '../../records/viewing.ts';
import { purgeChannelFilesLater } from './channel-files.ts';
import { type Channels, channel } from './channels.kind.ts';
import { readOverviews } from './channels.overview.ts';
import { hasMessages } from './channels.repository.ts';
import {
  addFirstParticipants,
  channelNotEmpty,
  checkNewChannel,
  existingDirectChannel,
  type NewChannel,
  requireAddition,
} from './channels.rules.ts';

type Answer = AnswerOf<typeof channel>;

/** Channels, and what is more than one record. */
export interface ChannelService {
  readonly channels: Channels;
  /**
   * Creates a channel with its first participants, or returns the direct channel of the same people. 403 if the caller names
   * others without the permission to add participants.
   */
  open(
    caller: Caller,
    input: InputOf<typeof channel> & NewChannel,
  ): Promise<{ readonly isNew: boolean; readonly opened: Changed<Answer> }>;
  /** Deletes a channel; 409 if it has messages, unless `force` is given (decision C7). */
  delete(
    caller: Caller,
    id: string,
    options: { readonly force: boolean; readonly versions: readonly number[] | undefined },
  ): Promise<void>;
}

/** Only callers who may list participants learn which channels another user participates in. */
const requireParticipants = (caller: Caller, userId: string | undefined): void => {
  if (userId === undefined || userId === caller.userUuid) return;
  requirePermission(caller, 'chat.participants.list', { type: 'participant', id: null });
};

/** Channels whose responses contain their overviews. */
const withOverviews = (records: Channels, database: Database): Channels => {
  const complete = async <A extends Answer>(
    caller: Caller,
    answers: readonly A[],
  ): Promise<A[]> => {
    const ids = answers.map(({ id }) => id);
    const overviews = await readOverviews(
      database.forTenant(caller.tenantId),
      ids,
      caller.userUuid,
    );
    const showsMessages = caller.can('chat.messages.view');
    return answers.map((answer) => {
      const overview = overviews.get(answer.id);
      const { role = null, user_ids = [] } = overview ?? {};
      const shown = showsMessages ? overview : undefined;
      const { last_message = null, unread_count = null, mention_count = null } = shown ?? {};
      return { ...answer, role, user_ids, last_message, unread_count, mention_count };
    });
  };
  const channels = completedRecords(records, {
    complete,
    // Reading a channel changes its counts without an event.
    revisionOf: ({ unread_count, mention_count, last_message }, own) =>
      revisionOfAll(own, unread_count, mention_count, last_message?.id),
  });
  return {
    ...channels,
    async list(caller, query) {
      requireParticipants(caller, query?.participant_id);
      return channels.list(caller, query);
    },
    async *batches(caller, query, limited) {
      requireParticipants(caller, query.participant_id);
      yield* channels.batches(caller, query, limited);
    },
  };
};

/** What `createChannelService` needs. */
interface Dependencies {
  readonly database: Database;
  readonly jobs: Pick<JobQueue, 'enqueue'>;
}

export const createChannelService = ({ database, jobs }: Dependencies): ChannelService => {
  const records = createRecords(channel, database);
  const channels = withOverviews(records, database);
  return {
    channels,

    async open(caller, input) {
      requireAddition(caller, input);
      return database.transaction(caller.tenantId, async (db) => {
        const { direct_key: directKey } = checkNewChannel(input, { caller, db });
        const existing =
          directKey === null ? undefined : await existingDirectChannel(db, directKey);
        if (existing !== undefined) {
          const opened = await channels.get(caller, existing);
          return { isNew: false, opened: viewed(channel, caller, opened) };
        }
        const { id } = await records.create(caller, input);
        await addFirstParticipants({ caller, db }, { id, kind: input.kind }, input);
        return { isNew: true, opened: await channels.get(caller, id) };
      });
    },

    delete: (caller, id, { force, versions }) =>
      database.transaction(caller.tenantId, async (db) => {
        // Locks the channel, so that no message is added meanwhile.
        await channels.delete(caller, id, versions);
        if (!(await hasMessages(db, id))) return;
        if (!force) throw channelNotEmpty();
        await purgeChannelFilesLater(jobs, db, id);
      }),
  };
};
