import { HttpError, unauthenticated } from '@tessera/http-kit';
import type { Request, Response } from 'express';
import { renderFailure } from './failure.ts';

/** The page that a browser gets for an error. */
const pageFor = (error: HttpError): string => {
  let page = '';
  const res = {
    locals: { isPage: true },
    get: () => undefined,
    set: () => res,
    vary: () => res,
    type: () => res,
    send: (text: string) => {
      page = text;
    },
  };
  const req = { path: '/account', query: {}, headers: {}, acceptsLanguages: () => 'en' };
  const brand = { brandName: 'Tessera', brand: { style: null, logo: null }, idleSignOut: 0 };
  const render = renderFailure({ ...brand, issuer: 'https://identity.test' });
  render(error, req as unknown as Request, res as unknown as Response);
  return page;
};

test.each([
  [unauthenticated(), 'Your sign-in has timed out. Please sign in again.'],
  [new HttpError(409, 'conflict', 'It has changed.'), 'Something changed in the meantime.'],
  [new HttpError(400, 'invalid_request', 'No.'), 'The app that sent you here made an invalid'],
])('the page of an error says what has happened: %s', (error, explanation) => {
  expect(pageFor(error)).toContain(explanation);
});
