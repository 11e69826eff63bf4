import { HttpError } from '@tessera/http-kit';

/** The states of a tenant (decision I13). */
export const tenantStatuses = [
  'provisioning',
  'active',
  'suspended',
  'failed',
  'deleting',
] as const;

export type TenantStatus = (typeof tenantStatuses)[number];

interface Transition {
  readonly from: readonly TenantStatus[];
  readonly to: TenantStatus;
}

/** The transitions that administrators can trigger. */
export const transitions = {
  suspend: { from: ['active'], to: 'suspended' },
  activate: { from: ['suspended'], to: 'active' },
  retry: { from: ['failed'], to: 'provisioning' },
  delete: { from: ['active', 'suspended', 'failed'], to: 'deleting' },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof transitions;

/** States in which versions and configuration can be changed. */
const configurable: readonly TenantStatus[] = ['active', 'suspended'];

const conflict = (message: string): HttpError => new HttpError(409, 'conflict', message);

/** 409: another change of the tenant is in progress. */
export const changeInProgress = (): HttpError =>
  conflict('Another change of the tenant is in progress. Reload the tenant and try again.');

/** The state after a transition; 409 if it is not allowed in the current state. */
export const nextStatus = (status: TenantStatus, move: TransitionName): TenantStatus => {
  const { from, to }: Transition = transitions[move];
  if (from.includes(status)) return to;
  throw conflict(`A tenant in state ${status} cannot change to ${to}.`);
};

/** 409 if the tenant has no deployment that can be configured. */
export const requireConfigurable = (status: TenantStatus): void => {
  if (!configurable.includes(status)) {
    throw conflict(`A tenant in state ${status} cannot be configured.`);
  }
};

/**
 * The state that follows from the state of the deployment (null: none exists); `gone` means that the tenant is
 * deleted. A deployment that disappears while provisioning has failed (decision I24). Null if the state does
 * not change.
 */
export const statusAfterDeployment = (
  status: TenantStatus,
  state: string | null,
): 'active' | 'failed' | 'gone' | null => {
  if (status === 'deleting') return state === null || state === 'gone' ? 'gone' : null;
  if (status !== 'provisioning') return null;
  if (state === null || state === 'gone') return 'failed';
  return state === 'active' || state === 'failed' ? state : null;
};
