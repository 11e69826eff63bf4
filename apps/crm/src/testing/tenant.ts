import { newTenant } from '@tessera/resource-server/testing';
import type { Test } from 'supertest';
import { type CallerOptions, startCrm, type TestCrm } from './crm.ts';

type Headers = Readonly<Record<string, string>>;

/** The tenant of a test, and what is sent by somebody who may do everything there; `headers` come on top. */
export interface Tenancy {
  crm(): TestCrm;
  /** Signs somebody else of the tenant in and gives the headers that they send. */
  caller(options?: CallerOptions): Headers;
  get(path: string, headers?: Headers): Test;
  post(path: string, body?: object, headers?: Headers): Test;
  put(path: string, body: object, headers?: Headers): Test;
  remove(path: string, headers?: Headers): Test;
}

/** Runs CRM for the tests of a file, and gives each of them a tenant that has no records yet. */
export const tenantForEachTest = (): Tenancy => {
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
  const by = (headers: Headers) => ({ ...own, ...headers });
  return {
    crm: () => crm,
    caller,
    get: (path, headers = {}) => crm.http.get(path).set(by(headers)),
    post: (path, body = {}, headers = {}) => crm.http.post(path).set(by(headers)).send(body),
    put: (path, body, headers = {}) => crm.http.put(path).set(by(headers)).send(body),
    remove: (path, headers = {}) => crm.http.delete(path).set(by(headers)),
  };
};
