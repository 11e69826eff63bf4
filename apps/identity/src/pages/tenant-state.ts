import type { HttpError } from '@tessera/http-kit';
import { TenantNotActive } from '../access/tenants.ts';
import type { Texts } from './texts/texts.ts';

/** What visitors are told about a tenant that cannot be used. */
interface TenantState {
  readonly badge: string;
  readonly hint: string;
}

const stateOf = ({ account }: Texts, status: string): TenantState => {
  const { states } = account.tenants;
  const known: Readonly<Record<string, TenantState>> = states;
  return (Object.hasOwn(known, status) && known[status]) || states.failed;
};

/** Why a tenant cannot be used, in the visitor's language; null if it can. */
export const stateOfTenant = (texts: Texts, status: string): TenantState | null =>
  status === 'active' ? null : stateOf(texts, status);

/** The text for an error of the code `tenant_suspended`. */
export const alertOfTenant = (texts: Texts, error: HttpError): string =>
  stateOf(texts, error instanceof TenantNotActive ? error.tenantStatus : 'failed').hint;
