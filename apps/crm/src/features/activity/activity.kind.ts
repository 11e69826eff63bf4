import {
  anything,
  described,
  mapOf,
  named,
  nullable,
  oneOf,
  rawText,
  shape,
  time,
  uuid,
} from '@tessera/fields';
import { equals, timeFilters } from '../../records/filters.ts';
import { declareKind } from '../../records/kind.ts';
import type { RecordsOf } from '../../records/records.ts';

const name = rawText(100);

/** What is recorded of an action; who did it is added. */
export const ActivityInput = named(
  'ActivityInput',
  shape({
    action: described(name, 'What was done, in the past tense', 'published'),
    resource_type: described(
      name,
      'The resource of the record, as in the names of permissions',
      'blog.posts',
    ),
    resource_id: uuid(),
    details: described(mapOf(anything(), 100), 'What else is known of the action'),
  }),
);

/** One row of the activity log. */
export const Activity = named(
  'Activity',
  shape({
    id: uuid(),
    created_at: described(time(), 'When it was done'),
    ...ActivityInput.fields,
    actor_type: described(
      oneOf('user', 'service_account', 'client', 'system'),
      '`system` is CRM itself',
    ),
    user_id: described(nullable(uuid()), 'The user, or the user of the service account'),
    client_id: described(nullable(rawText(200)), 'The OAuth client that the user signed in with'),
    token_id: described(nullable(rawText(200)), 'Of a service account, the id of its API key'),
    impersonator_id: described(nullable(rawText(200)), 'The administrator who acted as the user'),
  }),
);

/** The activity log. It has no operation that changes rows: `addActivity` adds them. */
export const activity = declareKind({
  table: 'activities',
  path: '/activity',
  name: 'activity',
  permissions: {
    list: 'activity.list',
    view: 'activity.list',
    create: 'activity.list',
    update: 'activity.list',
    delete: 'activity.list',
  },
  create: ActivityInput,
  answer: Activity,
  sort: { created_at: 'created_at' },
  defaultSort: '-created_at',
  filters: {
    user_id: equals('user_id', uuid()),
    impersonator_id: equals('impersonator_id', rawText(200)),
    action: equals('action', name),
    resource_type: equals('resource_type', name),
    resource_id: equals('resource_id', uuid()),
    created_from: timeFilters.created_from,
    created_to: timeFilters.created_to,
  },
  deletion: 'permanent',
});

export type ActivityLog = RecordsOf<typeof activity>;
