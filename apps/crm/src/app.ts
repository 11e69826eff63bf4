import { isDatabaseUnavailable, migrationsApplied } from '@tessera/database-kit';
import {
  createLimits,
  crossOrigin,
  errorHandler,
  HttpError,
  healthRoutes,
  mount,
  openapi,
  type RouteGroups,
  reference,
  requestLog,
  securityHeaders,
  under,
  unknownRoute,
} from '@tessera/http-kit';
import express, { type Express } from 'express';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { migrations } from './database.ts';
import { createContacts } from './features/contacts/contacts.records.ts';
import { contactRoutes } from './features/contacts/contacts.routes.ts';
import { type Caller, Problem, renderError } from './http.ts';
import { version } from './version.ts';

const BODY_LIMIT = 1024 * 1024;

const problems = {
  400: 'The body is not well-formed',
  401: 'There is no token, or identity says that it is not good',
  403: 'The caller lacks a permission, which is named, or may not act in the tenant',
  404: 'There is no such thing in the tenant',
  413: 'The body is too large',
  415: 'The body is not JSON',
  422: 'Some of what was sent does not fit; `errors` names each field',
  429: 'Too many requests; `Retry-After` says when to come back',
  500: 'Something went wrong on the side of the service',
  503: 'Identity or the database does not answer: the token may well be good, do not sign out',
};

const MINUTE = 60;

const limitsOf = ({ limits }: Config) =>
  createLimits<Caller>({
    classes: {
      default: { window: MINUTE, address: limits.address, principal: limits.principal },
      service: { window: MINUTE, address: limits.service, principal: 0 },
    },
    // Each API key counts by itself; the tokens of a person count together.
    principalKey: ({ principal: { type, id, token_id } }) =>
      type === 'service_account' ? `key:${token_id ?? id}` : `${type}:${id}`,
  });

const translate = (error: unknown): HttpError | undefined =>
  isDatabaseUnavailable(error)
    ? new HttpError(503, 'database_unavailable', 'The database does not answer. Try again.', {
        headers: { 'Retry-After': '1' },
        cause: error,
      })
    : undefined;

/** The routes by tag, in the order of the document. */
const routesOf = ({ pool, database }: Context): RouteGroups => ({
  Health: healthRoutes({
    path: '/api/crm/health',
    service: 'crm',
    version,
    ready: () => migrationsApplied(pool, migrations).catch(() => false),
  }),
  Contacts: under('/api/crm', contactRoutes(createContacts(database))),
});

/** The application and its OpenAPI document. */
export const createApp = (context: Context): { app: Express; document: object } => {
  const { config, logger, metrics, access } = context;
  const groups = routesOf(context);
  const limits = limitsOf(config);
  const document = openapi(groups, {
    title: 'Tessera CRM',
    version,
    description: "The tenants' records, every route gated by the caller's rights.",
    error: Problem,
    problems,
  });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.set('query parser', 'simple');
  app.set('trust proxy', config.trustedProxies);

  app.use(requestLog(logger));
  app.use(metrics.observe);
  app.use(securityHeaders());
  app.use(crossOrigin(config.corsOrigins, false));
  for (const observer of context.observers) app.use(observer);
  app.use(reference('Tessera CRM', { '/docs/api.json': document }, limits.address('service')));
  app.use(mount(groups, { gate: access.gate, limits, bodyLimit: BODY_LIMIT }));
  app.use(unknownRoute);
  app.use(errorHandler({ render: renderError, translate }));
  return { app, document };
};
