import type { Context } from '../../context.ts';
import type { AnyPage } from '../page.ts';
import { overviewPages } from './overview.pages.ts';

/** Every page below `/account`. */
export const accountPages = (context: Context): Record<string, AnyPage> => ({
  ...overviewPages(context),
});
