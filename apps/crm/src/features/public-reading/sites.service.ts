import { type HttpError, notFound } from '@tessera/http-kit';
import { clientNotConfigured, type ResourceServer } from '@tessera/resource-server';
import type { ActiveTenants } from '../../absent-callers/active-tenants.ts';
import type { Database, TenantDb } from '../../database.ts';
import type { Settings } from '../settings/settings.schema.ts';
import { readDatedSettings } from '../settings/settings.service.ts';
import { tenantsWithSlug } from './sites.repository.ts';

/** A tenant whose published content everybody may read. */
export interface Site {
  readonly slug: string;
  readonly db: TenantDb;
  readonly settings: Settings;
  /** When the settings last changed, among which is whether there is a site. */
  readonly settingsChangedAt: Date;
}

/** What `createSites` needs. */
interface Dependencies {
  readonly database: Pick<Database, 'forTenant' | 'pool'>;
  readonly access: Pick<ResourceServer, 'canAskRights'>;
  readonly activeTenants: ActiveTenants;
}

/** Finds sites by the slug of their tenant. */
export interface Sites {
  /**
   * The site of a slug. Throws the same 404 if there is no such tenant, if public reading is off, and if the tenant is
   * not active; 503 if identity does not say whether it is, or if CRM has no client there.
   */
  find(slug: string): Promise<Site>;
}

const noSite = (): HttpError => notFound('The site');

export const createSites = ({ database, access, activeTenants }: Dependencies): Sites => ({
  async find(slug) {
    if (!access.canAskRights) throw clientNotConfigured();
    for (const tenantId of await tenantsWithSlug(database.pool, slug)) {
      // Identity may have given the slug of a deleted tenant to another one.
      if ((await activeTenants.slugOf(tenantId)) !== slug) continue;
      const db = database.forTenant(tenantId);
      const { settings, updatedAt: settingsChangedAt } = await readDatedSettings(db);
      // Public reading is off until a change of the settings.
      if (settings.public_reading && settingsChangedAt) {
        return { slug, db, settings, settingsChangedAt };
      }
    }
    throw noSite();
  },
});
