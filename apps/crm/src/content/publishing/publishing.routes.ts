import type { Out } from '@tessera/fields';
import type { RouteEntry } from '@tessera/http-kit';
import type { CrmPermission } from '../../http.ts';
import { withArticle } from '../../records/paths.ts';
import {
  type Publishable,
  PublishInput,
  type PublishingDependencies,
  publishingRules,
  type RuleContext,
  type StateChange,
} from './publishing.rules.ts';

/** The routes that change who may read a record. */
export interface PublishingRoutes {
  readonly publish: RouteEntry;
  readonly unpublish: RouteEntry;
  readonly archive: RouteEntry;
}

/** The names of the actions in the history. */
const publicationName = (_row: unknown, { status }: StateChange): string =>
  status === 'scheduled' ? 'schedule' : 'publish';
const withdrawalName = ({ status }: StateChange): string =>
  status === 'scheduled' ? 'unschedule' : 'unpublish';

interface ActionRoutes {
  action(action: {
    readonly name: string;
    nameOf?(row: StateChange, values: StateChange): string;
    readonly permission: CrmPermission;
    readonly summary: string;
    readonly description: string;
    readonly body?: typeof PublishInput;
    readonly problems?: Readonly<Record<number, string>>;
    rule(context: RuleContext & { readonly body: Out<typeof PublishInput> }): Promise<StateChange>;
  }): RouteEntry;
}

/** `POST .../{id}/publish`, `/unpublish` and `/archive`, with the permission `<resource>.publish`. */
export const publishingRoutes = (
  { table, resource, name }: Publishable & { readonly name: string },
  routes: ActionRoutes,
  dependencies: PublishingDependencies,
): PublishingRoutes => {
  const rules = publishingRules({ table, resource });
  const permission = `${resource}.publish` as CrmPermission;
  const one = withArticle(name);
  return {
    publish: routes.action({
      name: 'publish',
      nameOf: publicationName,
      permission,
      summary: `Publish ${one}, or schedule its publication`,
      description:
        'Without `publish_at` it is published now. With a time in the future its status is `scheduled` until then; what is published is what it contains at that time. The publication is recorded as that of the caller, and is dropped if they have lost the permission by then: the record is a draft again, and the activity log shows why. While the tenant is suspended, it waits; while identity does not answer, it waits for three days at most. Publishing a published record again changes nothing, and so does scheduling the same time again, unless somebody else had scheduled it: then it becomes that of the caller.',
      body: PublishInput,
      problems: {
        409: 'The record is published already and cannot be scheduled',
        503: 'The publication cannot be scheduled because CRM has no client at identity',
      },
      rule: rules.publish(dependencies),
    }),
    unpublish: routes.action({
      name: 'unpublish',
      nameOf: withdrawalName,
      permission,
      summary: `Unpublish ${one}, or cancel its scheduled publication`,
      description:
        'It is a draft again, also if it was archived. A draft does not change. It is not public from the next request on.',
      rule: rules.unpublish,
    }),
    archive: routes.action({
      name: 'archive',
      permission,
      summary: `Archive ${one}`,
      description:
        'It is no longer public, and a scheduled publication is cancelled. An archived record does not change.',
      rule: rules.archive,
    }),
  };
};
