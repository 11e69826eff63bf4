import { forwarded, type RouteTable } from '@tessera/http-kit';
import type { RequestHandler } from 'express';
import { emptyForm } from './form.ts';
import type { AnyPage, PageOptions } from './page.ts';
import {
  sendPrompt,
  sendView,
  userToReauthenticate,
  visitOfPage,
  withRedirects,
} from './page-response.ts';
import { submitForm } from './submit-form.ts';

const showPage = (page: AnyPage, options: PageOptions): RequestHandler =>
  withRedirects(options.config, async (req, res) => {
    const { open, view, isSensitive = false } = page;
    const { reauthentication, brand } = options;
    const visit = await visitOfPage(page, options, req, res);
    const user = isSensitive ? userToReauthenticate(page, visit) : null;
    if (user && !(await reauthentication.isRecent(user))) {
      sendPrompt(res, visit, await reauthentication.prompt(visit, user, null), brand);
      return;
    }
    await sendView(res, visit, view(visit, await open(visit), emptyForm), options);
  });

/**
 * The routes of pages. They are not part of the OpenAPI document: programs use the JSON routes, and pages may
 * change at any time.
 */
export const routesOf = (
  pages: Readonly<Record<string, AnyPage>>,
  options: PageOptions,
): RouteTable => {
  const described = { isPage: true, responses: {} } as const;
  const routes = Object.entries(pages).flatMap(([name, one]) => {
    const { path, form } = one;
    const shown = forwarded({
      ...described,
      method: 'get',
      path,
      summary: `Page: ${name}`,
      forward: showPage(one, options),
    });
    if (!form && !one.isSensitive) return [[`${name}Page`, shown] as const];
    const sent = forwarded({
      ...described,
      method: 'post',
      path,
      summary: `Form: ${name}`,
      forward: submitForm(one, options),
    });
    return [[`${name}Page`, shown] as const, [`${name}Form`, sent] as const];
  });
  return Object.fromEntries(routes);
};
