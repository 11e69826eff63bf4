import type { Language } from '../texts.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { hu } from './hu.ts';

export interface PermissionTexts {
  everything(tenant: string): string;
  /** In the place of the name of a tenant, where there is none. */
  readonly anywhere: string;
  readonly fullAccess: string;
  readonly all: typeof en.all;
  readonly verbs: Readonly<Record<keyof typeof en.verbs, string>>;
  readonly resources: Readonly<Record<keyof typeof en.resources, string>>;
}

const byLanguage: Readonly<Record<Language, PermissionTexts>> = { en, hu, de };

export const permissionTexts = (language: Language): PermissionTexts => byLanguage[language];
