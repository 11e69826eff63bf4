import { randomUUID } from 'node:crypto';
import { newTenant } from '@tessera/resource-server/testing';
import request, { type Test } from 'supertest';
import type { TestCrm } from './crm.ts';

const HOUR_MS = 3_600_000;

/** The states of content, as columns; only the first one is public. */
export const contentStates = {
  published: "status = 'published', published_at = now() - interval '1 hour'",
  draft: "status = 'draft', published_at = NULL",
  scheduled: "status = 'scheduled', published_at = NULL, scheduled_at = now() + interval '1 hour'",
  archived: "status = 'archived', published_at = NULL",
  'archived after its publication': "status = 'archived', published_at = now() - interval '1 hour'",
  'a draft again': "status = 'draft', published_at = now() - interval '1 hour'",
  'published in the future': "status = 'published', published_at = now() + interval '1 hour'",
  deleted: "status = 'published', published_at = now() - interval '1 hour', deleted_at = now()",
} as const;

export type ContentState = keyof typeof contentStates;

/** A record that a test created. */
export interface TestContent {
  readonly id: string;
  readonly slug: string;
  readonly [field: string]: unknown;
}

/** A tenant with a public site. */
export interface TestSite {
  readonly slug: string;
  readonly tenantId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Creates an article, a post or a page in a state; published by default. */
  create(path: string, body: object, state?: ContentState): Promise<TestContent>;
  change(path: string, id: string, body: object): Promise<void>;
  setState(path: string, id: string, state: ContentState): Promise<void>;
  settings(body: object): Promise<void>;
  /** Requests a path below that of the site, without any authentication. */
  read(path: string, headers?: Readonly<Record<string, string>>): Test;
}

/** Creates a tenant with public reading switched on. */
export const publicSite = async (crm: TestCrm): Promise<TestSite> => {
  const tenant = newTenant(`site-${randomUUID().slice(0, 8)}`);
  const headers = crm.caller({ tenants: [tenant] });
  const api = (method: 'post' | 'put', path: string, body: object) =>
    crm.http[method](`/api/crm${path}`).set(headers).send(body);
  const site: TestSite = {
    slug: tenant.slug,
    tenantId: tenant.id,
    headers,
    async create(path, body, state = 'published') {
      const { body: created } = await api('post', `/${path}`, body).expect(201);
      const { id } = created.data;
      if (state === 'published') {
        const publish_at = new Date(Date.now() - HOUR_MS).toISOString();
        await api('post', `/${path}/${id}/publish`, { publish_at }).expect(200);
      } else await site.setState(path, id, state);
      return created.data;
    },
    async change(path, id, body) {
      await api('put', `/${path}/${id}`, body).expect(200);
    },
    async setState(path, id, state) {
      await crm.context.pool.query(
        `UPDATE tenant_crm.${path.replace('-', '_')} SET ${contentStates[state]},
           version = version + 1, updated_at = statement_timestamp() WHERE tenant_id = $1 AND id = $2`,
        [tenant.id, id],
      );
    },
    async settings(body) {
      await api('put', '/settings', body).expect(200);
    },
    read: (path, given = {}) => request(crm.url).get(`/public/${tenant.slug}${path}`).set(given),
  };
  await site.settings({ public_reading: true });
  return site;
};
