import { newTenant } from '@tessera/resource-server/testing';
import type { Test } from 'supertest';
import { type CallerOptions, startCrm, type TestCrm } from './crm.ts';

type Headers = Readonly<Record<string, string>>;

/** The tenant of a test. Requests are sent by a user with every permission; `headers` are added to them. */
export interface TestTenant {
  crm(): TestCrm;
  tenant(): ReturnType<typeof newTenant>;
  /** Signs in another user of the tenant and returns the headers of their requests. */
  caller(options?: CallerOptions): Headers;
  get(path: string, headers?: Headers): Test;
  /** `body` null leaves the body to the test. */
  post(path: string, body?: object | null, headers?: Headers): Test;
  put(path: string, body: object | null, headers?: Headers): Test;
  remove(path: string, headers?: Headers): Test;
}

const sending = (request: Test, body: object | null): Test =>
  body === null ? request : request.send(body);

/**
 * Starts CRM once for a test file and creates a new, empty tenant for each test. `environment` returns settings of CRM,
 * after it has started what they refer to.
 */
export const tenantForEachTest = (
  environment: () => Promise<Readonly<Record<string, string>>> = async () => ({}),
): TestTenant => {
  let crm: TestCrm;
  let tenant: ReturnType<typeof newTenant>;
  let own: Headers;
  const caller = (options: CallerOptions = {}) => crm.caller({ tenants: [tenant], ...options });
  beforeAll(async () => {
    crm = await startCrm(await environment());
  });
  beforeEach(() => {
    tenant = newTenant('acme');
    own = caller();
  });
  afterAll(() => crm.stop());
  const withOwn = (headers: Headers) => ({ ...own, ...headers });
  return {
    crm: () => crm,
    tenant: () => tenant,
    caller,
    get: (path, headers = {}) => crm.http.get(path).set(withOwn(headers)),
    post: (path, body = {}, headers = {}) =>
      sending(crm.http.post(path).set(withOwn(headers)), body),
    put: (path, body, headers = {}) => sending(crm.http.put(path).set(withOwn(headers)), body),
    remove: (path, headers = {}) => crm.http.delete(path).set(withOwn(headers)),
  };
};
