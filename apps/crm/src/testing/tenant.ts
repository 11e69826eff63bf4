import { newTenant } from '@tessera/resource-server/testing';
import type { Test } from 'supertest';
import { type CallerOptions, startCrm, type TestCrm } from './crm.ts';

type Headers = Readonly<Record<string, string>>;

/** The tenant of a test. Requests are sent by a user with every permission; `headers` are added to them. */
export interface TestTenant {
  crm(): TestCrm;
  /** Signs in another user of the tenant and returns the headers of their requests. */
  caller(options?: CallerOptions): Headers;
  get(path: string, headers?: Headers): Test;
  post(path: string, body?: object, headers?: Headers): Test;
  put(path: string, body: object, headers?: Headers): Test;
  remove(path: string, headers?: Headers): Test;
}

/** Starts CRM once for a test file and creates a new, empty tenant for each test. */
export const tenantForEachTest = (): TestTenant => {
  let crm: TestCrm;
  let tenant: ReturnType<typeof newTenant>;
  let own: Headers;
  const caller = (options: CallerOptions = {}) => crm.caller({ tenants: [tenant], ...options });
  beforeAll(async () => {
    crm = await startCrm();
  });
  beforeEach(() => {
    tenant = newTenant('acme');
    own = caller();
  });
  afterAll(() => crm.stop());
  const withOwn = (headers: Headers) => ({ ...own, ...headers });
  return {
    crm: () => crm,
    caller,
    get: (path, headers = {}) => crm.http.get(path).set(withOwn(headers)),
    post: (path, body = {}, headers = {}) => crm.http.post(path).set(withOwn(headers)).send(body),
    put: (path, body, headers = {}) => crm.http.put(path).set(withOwn(headers)).send(body),
    remove: (path, headers = {}) => crm.http.delete(path).set(withOwn(headers)),
  };
};
