import {
  list,
  matching,
  named,
  type Out,
  oneOf,
  openShape,
  optional,
  text,
  uuid,
} from '@tessera/fields';

const url = () => matching(/^https?:\/\/[^\s]+$/, 'an http(s) URL', 2000);

/** How far a deployment is, as `deployment-automation.openapi.json` has it; more members may come. */
export const Deployment = named(
  'Deployment',
  openShape({
    tenant_id: uuid(),
    state: oneOf('provisioning', 'active', 'suspended', 'failed', 'deleting', 'gone'),
    steps: optional(
      list(
        openShape({
          name: text(200),
          state: oneOf('pending', 'running', 'done', 'failed'),
          message: optional(text(1000)),
        }),
      ),
    ),
    prUrl: optional(url()),
    pr_url: optional(url()),
  }),
);

export type DeploymentPayload = Out<typeof Deployment>;
