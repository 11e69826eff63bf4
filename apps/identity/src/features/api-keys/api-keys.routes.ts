import {
  bool,
  list,
  named,
  nullable,
  optional,
  shape,
  text,
  time,
  uuid,
  verbatim,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { KnownPattern } from '../../access/known-policy.ts';
import { done, pageFields, pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { originOf } from '../../origin/origin.ts';
import type {
  ApiKey as ApiKeyRecord,
  IssuedKey as IssuedKeyRecord,
} from './api-keys.repository.ts';
import { type ApiKeysService, idleScopes } from './api-keys.service.ts';

/** Absent: no limit. None at all would be no key. */
const MOST = { min: 1, max: 100 };
const scopes = optional(list(verbatim(200), MOST));

const terms = {
  token_id: uuid(),
  name: text(200),
  expires_at: time(),
  scopes,
};

const ApiKey = named(
  'ApiKey',
  shape({ ...terms, revoked: bool(), last_used_at: nullable(time()) }),
);

const IssuedApiKey = named('IssuedApiKey', shape({ key: verbatim(4000), ...terms }));

const ApiKeyInput = named(
  'ApiKeyInput',
  shape({
    name: text(200),
    expires_at: optional(time()),
    scopes: optional(list(KnownPattern, MOST)),
  }),
);

const OfAccount = shape({ tenantId: uuid(), userId: uuid() });
const OfKey = shape({ tenantId: uuid(), userId: uuid(), keyId: uuid() });

const COLLECTION = '/api/tenants/{tenantId}/service-accounts/{userId}/api-keys';
const ITEM = `${COLLECTION}/{keyId}` as const;

const presentTerms = ({ id, name, expiresAt, scopes }: ApiKeyRecord) => ({
  token_id: id,
  name,
  expires_at: expiresAt,
  ...(scopes && { scopes: [...scopes] }),
});

const present = (key: ApiKeyRecord) => ({
  ...presentTerms(key),
  revoked: key.isRevoked,
  last_used_at: key.lastUsedAt,
});

const presentIssued = (issued: IssuedKeyRecord) => ({ key: issued.key, ...presentTerms(issued) });

/** Says it where scopes limit the key to what nobody asks for. */
const messageOf = ({ scopes = [] }: ApiKeyRecord): string => {
  const idle = idleScopes(scopes);
  const shown = 'The key is shown this once.';
  if (idle.length === 0) return shown;
  return `${shown} No permission is covered by ${idle.join(', ')}: each * stands for one segment.`;
};

export const apiKeyRoutes = (keys: ApiKeysService): RouteTable => ({
  listApiKeys: route({
    method: 'get',
    path: COLLECTION,
    permission: 'identity.api_keys.list',
    clients: 'first_party',
    resource: 'service_account',
    summary: 'API keys of a service account',
    description: 'The newest first, those that are revoked or expired included; never their text.',
    params: OfAccount,
    query: shape({
      ...pageFields,
    }),
    responses: { 200: pageOf(ApiKey) },
    async handler({ caller, params, query, reply }) {
      const asked = { page: query.page, perPage: query.per_page };
      const found = await keys.list(caller, params, asked);
      const meta = pageMeta(found.page, asked.perPage, found.total);
      return reply(200, { success: true, data: found.keys.map(present), meta });
    },
  }),
  createApiKey: route({
    method: 'post',
    path: COLLECTION,
    permission: 'identity.api_keys.create',
    clients: 'first_party',
    resource: 'service_account',
    summary: 'Create an API key',
    description:
      'Its text is in this answer and nowhere else. It may do what the account may, and with `scopes` only what these cover too. An `expires_at` beyond the longest lifetime is brought back to it. Needs everything that the account holds within the scopes. Made with an API key, it ends with that key at the latest, and its scopes must be within those of that key.',
    params: OfAccount,
    body: ApiKeyInput,
    responses: { 201: success(IssuedApiKey) },
    async handler({ caller, params, body, req, reply }) {
      const given = { name: body.name, expiresAt: body.expires_at, scopes: body.scopes };
      const issued = await keys.create(caller, params, given, originOf(req));
      const message = messageOf(issued);
      return reply(201, { success: true, data: presentIssued(issued), message });
    },
  }),
  rotateApiKey: route({
    method: 'post',
    path: `${ITEM}/rotate`,
    permission: 'identity.api_keys.create',
    clients: 'first_party',
    resource: 'api_key',
    summary: 'Replace an API key',
    description:
      'The new key keeps name, scopes and expiry, and is shown this once; the old one is good no longer. An API key rotates only keys that end with it at the latest and whose scopes are within its own.',
    params: OfKey,
    responses: { 200: success(IssuedApiKey) },
    problems: { 409: 'The key is revoked or has expired' },
    async handler({ caller, params, req, reply }) {
      const issued = await keys.rotate(caller, params, originOf(req));
      const message = messageOf(issued);
      return reply(200, { success: true, data: presentIssued(issued), message });
    },
  }),
  revokeApiKey: route({
    method: 'delete',
    path: ITEM,
    permission: 'identity.api_keys.revoke',
    clients: 'first_party',
    resource: 'api_key',
    summary: 'Revoke an API key',
    params: OfKey,
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await keys.revoke(caller, params, originOf(req));
      return reply(200, { success: true, message: 'The key is revoked.' });
    },
  }),
});
