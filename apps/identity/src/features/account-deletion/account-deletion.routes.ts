import { bool, described, list, named, nullable, shape, text, time, uuid } from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { personOf } from '../../access/access.ts';
import { done, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type { AccountDeletionService, DeletionState } from './account-deletion.service.ts';

const Scheduled = named(
  'AccountDeletion',
  shape({
    requested_at: time(),
    due_at: described(
      time(),
      'When the account will be deleted. Until then it remains usable and the deletion can be cancelled',
    ),
  }),
);

const State = named(
  'AccountDeletionState',
  shape({
    scheduled: nullable(Scheduled),
    last_owner_of: described(
      list(shape({ id: uuid(), slug: text(63), name: text(200) }), { max: 10_000 }),
      'Tenants that block the deletion because they have no other owner',
    ),
    is_last_administrator: described(
      bool(),
      'True if the system has no other active administrator; this blocks the deletion',
    ),
  }),
);

const presentScheduled = (deletion: NonNullable<DeletionState['deletion']>) => ({
  requested_at: deletion.requestedAt,
  due_at: deletion.dueAt,
});

export const accountDeletionRoutes = (deletions: AccountDeletionService): RouteTable => ({
  getAccountDeletion: route({
    method: 'get',
    path: '/api/me/deletion',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Get the scheduled deletion of your account and what blocks it',
    responses: { 200: success(State) },
    async handler({ caller, reply }) {
      const { deletion, blockers } = await deletions.state(personOf(caller));
      const data = {
        scheduled: deletion && presentScheduled(deletion),
        last_owner_of: [...blockers.tenants],
        is_last_administrator: blockers.isLastAdministrator,
      };
      return reply(200, { success: true, data });
    },
  }),
  requestAccountDeletion: route({
    method: 'post',
    path: '/api/me/deletion',
    permission: 'authenticated',
    clients: 'first_party',
    limit: 'password',
    summary: 'Schedule the deletion of your account',
    description:
      'The account and all personal data are deleted after ACCOUNT_DELETION_DELAY seconds. Until then the account remains usable and the deletion can be cancelled. An already scheduled deletion is returned unchanged. Without a recent authentication: 403 `reauthentication_required`.',
    responses: { 200: success(Scheduled) },
    problems: {
      409: 'The user is the last owner of a tenant (`last_owner`, with `tenants`) or the last administrator of the system (`last_administrator`)',
    },
    async handler({ caller, req, reply }) {
      const deletion = await deletions.request(personOf(caller), originOf(req));
      return reply(200, { success: true, data: presentScheduled(deletion) });
    },
  }),
  cancelAccountDeletion: route({
    method: 'delete',
    path: '/api/me/deletion',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Cancel the deletion of your account',
    responses: { 200: done },
    problems: { 404: 'No deletion is scheduled' },
    async handler({ caller, req, reply }) {
      await deletions.cancel(personOf(caller), originOf(req));
      return reply(200, { success: true, message: 'The deletion of your account is cancelled.' });
    },
  }),
});
