import { shape, text } from '@tessera/fields';
import {
  createApplication,
  createLimits,
  createLogger,
  createMetrics,
  type LimitClass,
  type RouteTable,
} from '../index.ts';
import { type Caller, gate, things } from './things.ts';

export const origin = 'https://panel.example.com';

/** A complete application with the routes of things and these, its log and its metrics. */
export const thingsApplication = (
  limits: Partial<Record<'default' | 'service', LimitClass>> = {},
  others: RouteTable = {},
  origins: readonly string[] = [origin],
) => {
  const plenty = { window: 60, address: 100, principal: 100 };
  const lines: Record<string, unknown>[] = [];
  const metrics = createMetrics();
  const { app, document } = createApplication<Caller>({
    groups: { Things: things, Others: others },
    about: {
      title: 'Things',
      version: '1.0.0',
      description: '',
      error: shape({ message: text(500) }),
      problems: {},
    },
    limits: createLimits({
      classes: { default: plenty, service: plenty, ...limits },
      principalKey: ({ name }) => name,
    }),
    gate,
    bodyLimit: 1000,
    logger: createLogger('things', 'info', { write: (line) => lines.push(JSON.parse(line)) }),
    metrics,
    trustedProxies: 0,
    logsHealthChecks: true,
    cors: { origins, credentials: true },
    observers: [],
    render: ({ code, message }) => ({ error: code, message }),
  });
  return { app, document, metrics, lines };
};
