// The routes of `express.ts` as those of a service: each request passes authentication, permissions, rate limits, log
// and metrics, as in CRM.
import { openSync, writeSync } from 'node:fs';
import { devNull } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { openShape, shape } from '@tessera/fields';
import {
  createApplication,
  createLimits,
  createLogger,
  createMetrics,
  listen,
  routesFor,
  standardProblems,
} from '@tessera/http-kit';
import { type Caller, createResourceServer } from '@tessera/resource-server';
import { answerListening } from './listening.ts';
import { readStatements } from './statements.ts';

type Permission = 'contacts.list';

const { IDENTITY_URL = '', KAFKA_BROKER = '' } = process.env;
const NEVER_REACHED = 1_000_000_000;

const log = openSync(devNull, 'w');
const logger = createLogger('floor', 'info', { write: (line) => void writeSync(log, line) });
const resourceServer = createResourceServer<Permission>({
  service: 'crm',
  identity: { url: IDENTITY_URL, timeoutMs: 2000 },
  kafkaBrokers: [KAFKA_BROKER],
  lifetimes: { policies: 3_600_000, principals: 15_000 },
  logger,
});

const route = routesFor<Caller<Permission>, Permission>();
const routes = readStatements().map(([path, run]) => {
  const found = route({
    method: 'get',
    path,
    permission: 'contacts.list',
    summary: 'Run a statement',
    responses: { 200: openShape({}) },
    handler: async ({ reply }) => reply(200, { data: await run() }),
  });
  return [`run${path}`, found] as const;
});

const { app } = createApplication<Caller<Permission>>({
  groups: { Statements: Object.fromEntries(routes) },
  about: {
    title: 'Floor',
    version: '1',
    description: 'Hand-written statements',
    error: shape({}),
    problems: { ...standardProblems, 401: '', 403: '', 404: '', 503: '' },
  },
  gate: resourceServer.gate,
  limits: createLimits<Caller<Permission>>({
    classes: {
      default: { window: 60, address: NEVER_REACHED, principal: NEVER_REACHED },
      service: { window: 60, address: NEVER_REACHED, principal: 0 },
    },
    principalKey: ({ principal }) => principal.id,
  }),
  bodyLimit: 0,
  cors: { origins: [], credentials: false },
  trustedProxies: 0,
  logsHealthChecks: true,
  render: ({ message }) => ({ message }),
  logger,
  metrics: createMetrics(),
  observers: [],
});

const start = async (): Promise<string> => {
  await resourceServer.start();
  // Until then, callers are not cached.
  while (resourceServer.stream() !== 'connected') await setTimeout(50);
  return (await listen(app, { host: '127.0.0.1', port: 0, variable: 'PORT' })).url;
};

answerListening(start());
