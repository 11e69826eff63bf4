import { described, named, rawText, shape, text } from '@tessera/fields';
import { empty, type RouteTable } from '@tessera/http-kit';
import { record, route } from '../../http.ts';
import { revalidate, tagOf } from './caching.ts';
import type { Sites } from './sites.service.ts';

/** The path under which everybody reads the published content of a tenant; `{tenant}` is its slug. */
export const SITE_PATH = '/public/{tenant}';

/** An invalid slug gets the same response as an unknown one. */
export const siteParams = { tenant: rawText(100) } as const;

const PublicSite = named(
  'PublicSite',
  shape({
    slug: described(text(63), 'The slug of the tenant'),
    name: text(200),
    url: described(text(2000), 'The address of the site for people'),
  }),
);

/** What all public routes declare. */
export const publicRead = {
  method: 'get',
  permission: 'public',
  limit: 'public',
  crossOrigin: 'every',
  requestHeaders: ['If-None-Match', 'If-Modified-Since'],
  responseHeaders: { 200: ['ETag'] },
} as const;

export const publicProblems = {
  304: 'The client has the current version',
  404: 'There is no such published record, or the tenant has no public site',
} as const;

export const siteRoutes = (sites: Sites, publicUrl: string): RouteTable => ({
  getPublicSite: route({
    ...publicRead,
    path: SITE_PATH,
    summary: 'Show the public site of a tenant',
    description:
      'Public reading needs no authentication and sets no cookies. It is off unless the tenant has switched it on (`PUT /settings`). Unknown and suspended tenants and those that have it off get the same response.',
    params: shape(siteParams),
    responses: { 200: record(PublicSite), 304: empty },
    problems: publicProblems,
    handler: async ({ params: { tenant }, req, reply }) => {
      const { slug, settings } = await sites.find(tenant);
      const data = {
        slug,
        name: settings.public_site_name ?? slug,
        url: settings.public_site_url ?? `${publicUrl}/public/${slug}`,
      };
      const { headers, isKnown } = revalidate(req, tagOf(data));
      return isKnown ? reply(304, headers) : reply(200, { data }, headers);
    },
  }),
});
