import {
  described,
  named,
  nullable,
  type Out,
  oneOf,
  optional,
  shape,
  text,
  time,
  uuid,
  withDefault,
} from '@tessera/fields';
import { pageFields } from '../../http/route.ts';
import { searchWords } from '../../lists/search.ts';
import type { InvitationQuery, PendingInvitation } from './pending-invitations.repository.ts';

export const Invitation = named(
  'Invitation',
  shape({
    id: uuid(),
    email: described(text(254), 'The address that it was sent to', 'nora@example.com'),
    name: described(
      nullable(text(401)),
      'The name that the inviter gave; null if they gave none',
      'Nora Neu',
    ),
    role: described(text(100), 'The name of the role that it grants', 'member'),
    invited_by: described(
      nullable(named('InvitingMember', shape({ user_id: uuid(), name: text(401) }))),
      'The member who sent it. Null if they are no longer a member, or if a system application or an operator of the platform sent it',
    ),
    created_at: described(time(), 'When it was sent'),
    expires_at: described(time(), 'When its link stops working at the latest'),
  }),
);

const SORTS = ['email', '-email', 'created_at', '-created_at'] as const;

/** Query parameters of the list of pending invitations. */
export const InvitationsInQuery = shape({
  ...pageFields,
  search: described(optional(searchWords()), 'Words of the address or the name'),
  sort: withDefault(oneOf(...SORTS), '-created_at'),
});

export const invitationQueryOf = ({
  page,
  per_page: perPage,
  search,
  sort,
}: Out<typeof InvitationsInQuery>): InvitationQuery => ({
  page,
  perPage,
  search,
  sort: {
    by: sort.endsWith('email') ? 'email' : 'createdAt',
    order: sort.startsWith('-') ? 'desc' : 'asc',
  },
});

export const presentInvitation = ({
  id,
  email,
  name,
  role,
  inviter,
  createdAt,
  expiresAt,
}: PendingInvitation): Out<typeof Invitation> => ({
  id,
  email,
  name,
  role: role.name,
  invited_by: inviter && { user_id: inviter.userId, name: inviter.name },
  created_at: createdAt,
  expires_at: expiresAt,
});
