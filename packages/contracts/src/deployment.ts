import {
  anything,
  list,
  named,
  nullable,
  type Out,
  oneOf,
  openShape,
  optional,
  text,
  url,
  uuid,
  validate,
  verbatim,
} from '@tessera/fields';

const link = url(2000);

/**
 * How far a deployment is, as `deployment-automation.openapi.json` has it; more members may come. What a
 * change did not depend on is not refused: it was accepted, whatever the answer says besides.
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
            message: optional(nullable(verbatim(1000, 0))),
          }),
        ),
      ),
    ),
    prUrl: optional(anything()),
    pr_url: optional(anything()),
  }),
);

export type DeploymentPayload = Out<typeof Deployment>;

/** The pull request that a change was made by: `prUrl` first, `pr_url` second; null where neither is a URL. */
export const pullRequestOf = ({ prUrl, pr_url }: DeploymentPayload): string | null => {
  for (const given of [prUrl, pr_url]) {
    const read = validate(link, given);
    if (read.ok) return read.value;
  }
  return null;
};
