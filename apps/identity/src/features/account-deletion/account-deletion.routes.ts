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
    due_at: described(time(), 'The account works until then, and can be kept'),
  }),
);

const State = named(
  'AccountDeletionState',
  shape({
    scheduled: nullable(Scheduled),
    last_owner_of: described(
      list(shape({ id: uuid(), slug: text(63), name: text(200) }), { max: 10_000 }),
      'Tenants that keep the account: they have no other owner',
    ),
    is_last_administrator: described(bool(), 'The system has no other active administrator'),
  }),
);

const presentScheduled = (deletion: NonNullable<DeletionState['deletion']>) => ({
  requested_at: deletion.requestedAt,
  due_at: deletion.dueAt,
});

/** The deletion of one's own account. */
export const accountDeletionRoutes = (deletions: AccountDeletionService): RouteTable => ({
  showAccountDeletion: route({
    method: 'get',
    path: '/api/me/deletion',
    permission: 'authenticated',
    clients: 'first_party',
    summary: 'Whether one’s own account is about to be deleted, and what keeps it',
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
    summary: 'Schedule the deletion of one’s own account',
    description:
      'After ACCOUNT_DELETION_DELAY seconds the account is deleted with everything that belongs to the person. Until then it works and can be kept. A deletion that is already scheduled stays as it is. Without a recent authentication: 403 `reauthentication_required`.',
    responses: { 200: success(Scheduled) },
    problems: {
      409: 'The account is the last owner of a tenant (`last_owner`, with `tenants`), or the last administrator of the system (`last_administrator`)',
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
    summary: 'Keep one’s own account',
    responses: { 200: done },
    problems: { 404: 'No deletion is scheduled' },
    async handler({ caller, req, reply }) {
      await deletions.cancel(personOf(caller), originOf(req));
      return reply(200, { success: true, message: 'Your account stays.' });
    },
  }),
});
