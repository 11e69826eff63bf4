import {
  bool,
  described,
  type Field,
  int,
  languageTag,
  list,
  named,
  nullable,
  type Out,
  optional,
  type Shape,
  shape,
  text,
  time,
} from '@tessera/fields';
import { serviceUrl } from '@tessera/http-kit';

/** A setting: the field of its value, and the value that applies until a tenant sets another one. */
interface Setting<T, D = T> {
  readonly field: Field<T, false>;
  readonly default: D;
}

const setting = <T, D extends T | null = T>(
  field: Field<T, false>,
  { default: value, description }: { readonly default: D; readonly description: string },
): Setting<T, D> => ({ field: described(field, description), default: value });

/**
 * Every setting of a tenant (decision C23). To add one, add it here: the routes, their documentation and
 * `readSettings` follow. Values must be JSON. A setting whose default is null has no value until it is set.
 */
export const settings = {
  working_week: setting(list(int(1, 7), { min: 1, max: 7, unique: true }), {
    default: [1, 2, 3, 4, 5],
    description: 'The working days as ISO 8601 weekdays: 1 is Monday, 7 is Sunday.',
  }),
  message_recall_minutes: setting(int(0, 10_080), {
    default: 15,
    description: 'How long authors can recall a chat message, in minutes; 0: not at all.',
  }),
  content_language: setting(languageTag(), {
    default: 'en',
    description: 'The language of articles, posts and pages that are created without one.',
  }),
  public_reading: setting(bool(), {
    default: false,
    description:
      'Whether anybody can read published articles, posts and pages under `/public/{tenant}`, without authentication.',
  }),
  public_site_name: setting<string, null>(text(200), {
    default: null,
    description: 'The title of feeds. Default: the slug of the tenant.',
  }),
  public_site_url: setting<string, null>(serviceUrl(), {
    default: null,
    description:
      'The base URL of the site that shows published content. Links in feeds, sitemaps and responses of public reading continue it as they would continue `/public/{tenant}`. Default: CRM itself.',
  }),
  comment_moderation: setting(bool(), {
    default: false,
    description:
      'Whether comments on articles wait for the approval of somebody with `kb_articles.moderate`.',
  }),
};

type Declared = typeof settings;
export type SettingName = keyof Declared;
type ValueOf<N extends SettingName> = Out<Declared[N]['field']>;
/** A setting may have null as its default. */
type Effective<N extends SettingName> =
  | ValueOf<N>
  | (null extends Declared[N]['default'] ? null : never);

/** The value of every setting of a tenant. */
export type Settings = { readonly [N in SettingName]: Effective<N> };

/** The settings to change; null restores the default. */
export type SettingsChange = { readonly [N in SettingName]?: ValueOf<N> | null };

/** Maps every setting; the keys of the result are the names of the settings. */
const eachSetting = <R>(of: (setting: Setting<unknown, unknown>) => R): Record<SettingName, R> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, declared]) => [
      name,
      of(declared as Setting<unknown, unknown>),
    ]),
  ) as Record<SettingName, R>;

export const SettingsInput = named(
  'SettingsInput',
  shape(eachSetting(({ field }) => optional(nullable(field)))),
) as Shape as Shape & Field<SettingsChange>;

const values = eachSetting(({ field, default: value }) =>
  value === null ? nullable(field) : field,
) as { readonly [N in SettingName]: Field<Effective<N>, false> };

export const TenantSettings = named(
  'TenantSettings',
  shape({
    ...values,
    updated_at: described(nullable(time()), 'Null if no setting was ever changed.'),
  }),
);
