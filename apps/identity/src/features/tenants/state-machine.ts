import { HttpError } from '@tessera/http-kit';

/** The states that a tenant can be in while there is one (decision I13). */
export const tenantStatuses = [
  'provisioning',
  'active',
  'suspended',
  'failed',
  'deleting',
] as const;

export type TenantStatus = (typeof tenantStatuses)[number];

interface Move {
  readonly from: readonly TenantStatus[];
  readonly to: TenantStatus;
}

/** Every move that an administrator can make; there are no others. */
export const moves = {
  suspend: { from: ['active'], to: 'suspended' },
  activate: { from: ['suspended'], to: 'active' },
  retry: { from: ['failed'], to: 'provisioning' },
  delete: { from: ['active', 'suspended', 'failed'], to: 'deleting' },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof moves;

/** The states in which a tenant can be brought to other versions or another configuration. */
const configurable: readonly TenantStatus[] = ['active', 'suspended'];

const conflict = (message: string): HttpError => new HttpError(409, 'conflict', message);

/** Another change has the tenant: 409. */
export const underWay = (): HttpError =>
  conflict('Another change of the tenant is under way. Look at it again, then decide.');

/** The state that a move leads to; 409 from a state that it does not begin in. */
export const moved = (status: TenantStatus, move: MoveName): TenantStatus => {
  const { from, to }: Move = moves[move];
  if (from.includes(status)) return to;
  throw conflict(`A tenant that is ${status} cannot be brought to ${to}.`);
};

/** 409 where deployment automation has nothing that could be changed. */
export const demandConfigurable = (status: TenantStatus): void => {
  if (!configurable.includes(status)) {
    throw conflict(`A tenant that is ${status} cannot be configured.`);
  }
};

/**
 * Where a tenant moves by itself, by the state of its deployment (null: there is none): `gone` is no state
 * but the end. A deployment that is gone while provisioning has failed (decision I24). Null: it stays.
 */
export const settled = (
  status: TenantStatus,
  state: string | null,
): 'active' | 'failed' | 'gone' | null => {
  if (status === 'deleting') return state === null || state === 'gone' ? 'gone' : null;
  if (status !== 'provisioning') return null;
  if (state === null || state === 'gone') return 'failed';
  return state === 'active' || state === 'failed' ? state : null;
};
