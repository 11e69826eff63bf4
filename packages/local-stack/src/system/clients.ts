import { createCrmClient } from '@tessera/crm-client';
import { createIdentityClient } from '@tessera/identity-client';
import type { Stack } from '../stack.ts';

export type IdentityClient = ReturnType<typeof createIdentityClient>;
export type CrmClient = ReturnType<typeof createCrmClient>;

const bearer = (token: string | undefined): string | undefined => token && `Bearer ${token}`;

/** The generated client of the stack's identity; it sends the token, if any. */
export const identityClient = (stack: Stack, token?: string): IdentityClient =>
  createIdentityClient({
    baseUrl: stack.identity.url,
    headers: { authorization: bearer(token) },
  });

/** The generated client of the stack's CRM; it sends the token and names the tenant in `X-Tenant`, if any. */
export const crmClient = (stack: Stack, token?: string, tenant?: string): CrmClient =>
  createCrmClient({
    baseUrl: stack.crm.url,
    headers: { authorization: bearer(token), 'x-tenant': tenant },
  });

/** What the generated clients return: `data` is the body of a success, `error` that of any other response. */
export interface ClientResponse<Data = unknown> {
  readonly response: Response;
  readonly data?: Data;
  readonly error?: unknown;
}

/** The body of a response that must have this status; throws an error with the response otherwise. */
export const bodyOf = <Data>(
  { response, data, error }: ClientResponse<Data>,
  status = 200,
): NonNullable<Data> => {
  if (response.status === status && data != null) return data;
  const body = JSON.stringify(error ?? data);
  throw new Error(`Expected ${status}, but ${response.url} returned ${response.status}: ${body}`);
};

/** The status of a response, and the code of its error or undefined. */
export const statusAndError = ({
  response,
  error,
}: {
  readonly response: Response;
  readonly error?: { readonly error: string };
}): [number, string | undefined] => [response.status, error?.error];

/** The statuses that occur in responses. */
export const statuses = (answers: readonly ClientResponse[]): number[] => [
  ...new Set(answers.map(({ response }) => response.status)),
];
