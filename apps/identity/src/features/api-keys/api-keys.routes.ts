import type { PermissionRegistry } from '@tessera/contracts';
import {
  bool,
  list,
  named,
  nullable,
  optional,
  rawText,
  shape,
  text,
  time,
  uuid,
} from '@tessera/fields';
import type { RouteTable } from '@tessera/http-kit';
import { knownScope, warningsAbout } from '../../access/known-policy.ts';
import { done, pageFields, pageMeta, page as pageOf, route, success } from '../../http/route.ts';
import { fullAt, MAX_API_KEYS } from '../../lists/maximum.ts';
import { originOf } from '../../origin/origin.ts';
import type {
  ApiKey as ApiKeyRecord,
  IssuedKey as IssuedKeyRecord,
} from './api-keys.repository.ts';
import type { ApiKeysService } from './api-keys.service.ts';

/** Absent means no limit; an empty list would make the key useless. */
const SCOPE_COUNT = { min: 1, max: 100 };
const scopes = optional(list(rawText(200), SCOPE_COUNT));

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

const IssuedApiKey = named('IssuedApiKey', shape({ key: rawText(4000), ...terms }));

const apiKeyInput = (permissions: PermissionRegistry) =>
  named(
    'ApiKeyInput',
    shape({
      name: text(200),
      expires_at: optional(time()),
      scopes: optional(list(knownScope(permissions), SCOPE_COUNT)),
    }),
  );

const AccountParams = shape({ tenantId: uuid(), userId: uuid() });
const KeyParams = shape({ tenantId: uuid(), userId: uuid(), keyId: uuid() });

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

const messageOf = (permissions: PermissionRegistry, { scopes = [] }: ApiKeyRecord): string =>
  ['The key is shown only this once.', ...warningsAbout(permissions, scopes)].join(' ');

export const apiKeyRoutes = (
  keys: ApiKeysService,
  permissions: PermissionRegistry,
): RouteTable => ({
  listApiKeys: route({
    method: 'get',
    path: COLLECTION,
    permission: 'identity.api_keys.list',
    clients: 'first_party',
    resource: 'service_account',
    summary: 'List the API keys of a service account',
    description: 'Newest first, including revoked and expired keys; their secrets are never shown.',
    params: AccountParams,
    query: shape({
      ...pageFields,
    }),
    responses: { 200: pageOf(ApiKey) },
    async handler({ caller, params, query, reply }) {
      const page = { page: query.page, perPage: query.per_page };
      const found = await keys.list(caller, params, page);
      const meta = pageMeta(found.page, page.perPage, found.total);
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
      'The response is the only place that shows the key. The key has the permissions of the account, limited by `scopes` if given. `expires_at` is limited to the maximum lifetime. The caller must hold every permission of the account that the scopes cover. A key created with an API key expires no later than that key, and its scopes must be within that key’s scopes.',
    params: AccountParams,
    body: apiKeyInput(permissions),
    responses: { 201: success(IssuedApiKey) },
    problems: fullAt(MAX_API_KEYS),
    async handler({ caller, params, body, req, reply }) {
      const given = { name: body.name, expiresAt: body.expires_at, scopes: body.scopes };
      const issued = await keys.create(caller, params, given, originOf(req));
      const message = messageOf(permissions, issued);
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
      'The new key has the same name, scopes and expiry and is shown only this once; the old key stops working. With an API key, you can rotate only keys that expire no later and have no wider scopes.',
    params: KeyParams,
    responses: { 200: success(IssuedApiKey) },
    problems: { 409: 'The key has been revoked or has expired' },
    async handler({ caller, params, req, reply }) {
      const issued = await keys.rotate(caller, params, originOf(req));
      const message = messageOf(permissions, issued);
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
    params: KeyParams,
    responses: { 200: done },
    async handler({ caller, params, req, reply }) {
      await keys.revoke(caller, params, originOf(req));
      return reply(200, { success: true, message: 'The API key has been revoked.' });
    },
  }),
});
