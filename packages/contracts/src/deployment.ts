import {
  anything,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  rawText,
  text,
  url,
  uuid,
  validate,
} from '@tessera/fields';

const link = url(2000);

/**
 * The state of a deployment, as `deployment-automation.openapi.json` declares it; further members are ignored. The
 * members that identity does not depend on are not validated, because the change was already accepted.
 */
export const Deployment = named(
  'Deployment',
  openShape({
    tenant_id: uuid(),
    state: oneOf('provisioning', 'active', 'suspended', 'failed', 'deleting', 'gone'),
    steps: optional(
      nullable(
        list(
          openShape({
            name: text(200),
            state: oneOf('pending', 'running', 'done', 'failed'),
            message: optional(nullable(rawText(1000, 0))),
          }),
        ),
      ),
    ),
    prUrl: optional(anything()),
    pr_url: optional(anything()),
  }),
);

export type DeploymentPayload = Out<typeof Deployment>;

/** The URL of the pull request of a change: `prUrl`, or else `pr_url`; null if neither is a URL. */
export const pullRequestOf = ({ prUrl, pr_url }: DeploymentPayload): string | null => {
  for (const given of [prUrl, pr_url]) {
    const read = validate(link, given);
    if (read.ok) return read.value;
  }
  return null;
};
