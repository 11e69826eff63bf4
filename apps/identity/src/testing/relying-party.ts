import { createServer } from 'node:http';
import { listen } from '@tessera/http-kit';
import * as openid from 'openid-client';
import type { Page } from 'playwright-core';
import type { CodeFlow } from './code-flow.ts';
import type { TestIdentity } from './identity.ts';

/** An application with users, by software that knows nothing of this service: a public client on loopback. */
export interface RelyingParty {
  readonly url: string;
  readonly callback: string;
  /** Sends a browser off to sign in. */
  begin(page: Page, parameters?: Readonly<Record<string, string>>): Promise<void>;
  /** Waits until the browser is back, and gives what the code was exchanged for. */
  finish(page: Page): Promise<openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers>;
  stop(): Promise<void>;
}

interface Options {
  readonly isTrusted?: boolean;
  /** The patterns within which it may ask for permissions, where it is not trusted. */
  readonly allowedScopes?: readonly string[];
  readonly name?: string;
}

export const startRelyingParty = async (
  identity: TestIdentity,
  flow: CodeFlow,
  { isTrusted = true, allowedScopes = [], name = 'Ledger' }: Options = {},
): Promise<RelyingParty> => {
  const site = createServer((req, res) => {
    const { searchParams, pathname } = new URL(req.url ?? '', 'http://site.test');
    // Many applications take the code at one origin and go on at another.
    if (pathname === '/callback') {
      const home = `http://localhost:${server.port}/home?${searchParams}`;
      res.writeHead(302, { Location: home }).end();
      return;
    }
    res.writeHead(200, { 'Content-Type': 'text/html' });
    // Sends whatever it is told to wherever it is told, as a hostile site would.
    const target = searchParams.get('forge');
    const forged = `<form method="post" action="${target}"><button>Win</button></form>`;
    res.end(
      `<!doctype html><html lang="en"><title>Site</title><h1>${pathname}</h1>${target ? forged : ''}`,
    );
  });
  const server = await listen(site, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  const callback = `${server.url}/callback`;
  const { clientId } = await flow.client({
    isPublic: true,
    isTrusted,
    allowedScopes,
    redirectUris: [callback],
  });
  await identity.context.database.oAuthClient.update({ where: { clientId }, data: { name } });
  const { issuer } = identity.context.config;
  const config = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
  });
  let checks: openid.AuthorizationCodeGrantChecks = {};
  return {
    url: server.url,
    callback,
    async begin(page, parameters = {}) {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
      checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
      const address = openid.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: 'openid email',
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        state: expectedState,
        nonce: expectedNonce,
        ...parameters,
      });
      await page.goto(address.href);
    },
    async finish(page) {
      await page.waitForURL('**/home?**');
      const { search } = new URL(page.url());
      return openid.authorizationCodeGrant(config, new URL(callback + search), checks);
    },
    stop: () => server.stop(),
  };
};
