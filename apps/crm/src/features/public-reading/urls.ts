import type { PublicKind } from './kinds.ts';
import type { Site } from './sites.service.ts';

/** A record as URLs name it: slugs are unique among the records of a kind and language. */
export interface Named {
  readonly slug: string;
  readonly language: string;
}

/** The URLs of what a site shows. */
export interface SiteUrls {
  /** The address of the site for people. */
  readonly home: string;
  /** The address of a record for people, which search engines and feed readers get. */
  record(kind: PublicKind, record: Named): string;
  /** The path of a record in this API. */
  path(kind: PublicKind, record: Named, below?: string): string;
  /** The address at which CRM serves something, from its path. */
  absolute(path: string): string;
  /** The path of something of the site in this API. */
  own(path: string, language?: string): string;
}

/**
 * The URLs of a site. `publicUrl` is the address of CRM. A site of the tenant's own (`public_site_url`) has the same
 * paths below its base URL as CRM has below `/public/{tenant}`.
 */
export const urlsOf = ({ slug, settings }: Site, publicUrl: string): SiteUrls => {
  const root = `/public/${slug}`;
  const home = settings.public_site_url?.replace(/\/+$/, '') ?? `${publicUrl}${root}`;
  const inLanguage = (language: string | undefined): string =>
    language === undefined || language === settings.content_language
      ? ''
      : `?language=${encodeURIComponent(language)}`;
  const within = (kind: PublicKind, record: Named, below = ''): string =>
    `/${kind.path}/${encodeURIComponent(record.slug)}${below}${inLanguage(record.language)}`;
  return {
    home,
    record: (kind, record) => `${home}${within(kind, record)}`,
    path: (kind, record, below) => `${root}${within(kind, record, below)}`,
    absolute: (path) => `${publicUrl}${path}`,
    own: (path, language) => `${root}${path}${inLanguage(language)}`,
  };
};
