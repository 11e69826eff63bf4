/** The confidential OAuth client of a tenant (decision I18), without its secret. */
export interface TenantClient {
  readonly clientId: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly isTrusted: true;
  readonly tenantId: string;
}

/** The client id for the tenant with this slug. */
export const tenantClientId = (slug: string): string => `tenant-${slug}`;

/** A redirect URI for the tenant with this slug. */
export const tenantRedirectUri = (template: string, slug: string): string =>
  template.replaceAll('{slug}', slug);

/**
 * The client of a tenant. `templates` are redirect URIs in which `{slug}` stands for the tenant's slug.
 */
export const tenantClient = (
  { id, slug, name }: { readonly id: string; readonly slug: string; readonly name: string },
  templates: readonly string[],
): TenantClient => ({
  clientId: tenantClientId(slug),
  name,
  redirectUris: templates.map((template) => tenantRedirectUri(template, slug)),
  isTrusted: true,
  tenantId: id,
});
