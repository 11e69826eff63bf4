import type { FieldErrors } from '@tessera/fields';
import { HttpError, invalidField, validationFailed } from '@tessera/http-kit';
import { requireUser } from '@tessera/resource-server';
import type { TenantDb } from '../../database.ts';
import type { Caller } from '../../http.ts';
import { actorOf } from '../../records/actor.ts';
import { requirePermission } from '../../records/require-permission.ts';
import { lockUntilEnd } from '../../records/transaction-lock.ts';
import { type ChannelKind, type ChannelState, findDirectChannel } from './channels.repository.ts';
import { refuseDirect, requireOwner } from './channels.roles.ts';
import { appendEvent, type ChatEventType } from './chat-events.ts';
import { directKeyOf } from './direct-key.ts';
import { addParticipants } from './participants.repository.ts';

interface Context {
  readonly caller: Caller;
  readonly db: TenantDb;
}

interface RowContext extends Context {
  readonly row: ChannelState;
}

/** The input of a new channel. */
export interface NewChannel {
  readonly kind: ChannelKind;
  readonly name?: string;
  readonly topic?: string | null;
  readonly user_ids?: readonly string[];
}

/** The maximum number of people in a direct channel. */
export const MAX_DIRECT = 10;

/** The caller and the users that a new channel names. */
const peopleOf = (caller: Caller, { user_ids: userIds = [] }: NewChannel): string[] => [
  ...new Set([requireUser(caller), ...userIds]),
];

/**
 * 403 if a caller who may not add participants creates a channel with others. A direct channel is nothing but its people, so
 * it requires no more than the creation of channels.
 */
export const requireAddition = (
  caller: Caller,
  { kind, user_ids: userIds = [] }: NewChannel,
): void => {
  if (kind === 'direct' || userIds.every((id) => id === caller.userUuid)) return;
  requirePermission(caller, 'chat.participants.create', { type: 'participant', id: null });
};

/** The id of a direct channel. Until the transaction ends, nobody else creates that channel. */
export const existingDirectChannel = async (
  db: TenantDb,
  directKey: string,
): Promise<string | undefined> => {
  await lockUntilEnd(db, `direct channel ${db.tenantId} ${directKey}`);
  return findDirectChannel(db, directKey);
};

/**
 * What is wrong with the input of a direct channel. Nobody could change its name or topic later, and where the channel
 * exists already, they would be lost.
 */
const directErrors = ({ name, topic }: NewChannel, people: readonly string[]): FieldErrors => {
  const isAllowed = people.length >= 2 && people.length <= MAX_DIRECT;
  const others = `user_ids must name 1 to ${MAX_DIRECT - 1} other users in a direct channel`;
  return {
    ...(name !== undefined && { name: ['name is not allowed in a direct channel'] }),
    ...(typeof topic === 'string' && { topic: ['topic is not allowed in a direct channel'] }),
    ...(!isAllowed && { user_ids: [others] }),
  };
};

/** What a new channel consists of: a direct one of its people, and any other of its name. */
export const checkNewChannel = (
  input: NewChannel,
  { caller }: Context,
): { direct_key: string | null } => {
  if (input.kind !== 'direct') {
    if (input.name === undefined) throw invalidField('name', 'name is required');
    if (input.kind === 'private') requireUser(caller);
    return { direct_key: null };
  }
  const people = peopleOf(caller, input);
  const errors = directErrors(input, people);
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return { direct_key: directKeyOf(people) };
};

/** Only owners change, delete and restore a private channel. Direct ones stay as they are. */
export const checkChannelChange = async ({ caller, db, row }: RowContext): Promise<void> => {
  refuseDirect(row);
  await requireOwner(caller, db, row);
};

const events: Readonly<Record<string, ChatEventType>> = {
  create: 'channel.created',
  update: 'channel.updated',
  delete: 'channel.deleted',
  restore: 'channel.restored',
};

/** Adds the event of a change. */
export const announceChannel = async ({
  action,
  db,
  row,
}: RowContext & { readonly action: string }): Promise<void> => {
  const type = events[action];
  if (!type) throw new TypeError(`A channel has no event for ${action}.`);
  await appendEvent(db, { channelId: row.id, type, payload: {} });
};

/** Adds the creator and the users that the input of a channel names. */
export const addFirstParticipants = async (
  { caller, db }: Context,
  { id: channelId, kind }: ChannelState,
  input: NewChannel,
): Promise<void> => {
  const cause = { action: 'create', actor: actorOf(caller) };
  const { userUuid } = caller;
  const userIds = [...new Set(input.user_ids)].filter((id) => id !== userUuid);
  const own = userUuid === null ? [] : [userUuid];
  const role = kind === 'direct' ? 'member' : 'owner';
  await addParticipants(db, cause, { channelId, userIds: own, role });
  await addParticipants(db, cause, { channelId, userIds, role: 'member' });
};

/** 409 for a channel that has messages. */
export const channelNotEmpty = (): HttpError =>
  new HttpError(409, 'conflict', 'The channel has messages. Delete it with force=true.');
