import cors from 'cors';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

/** Security headers for answers that are data: nothing in them may be run, framed or stored. */
export const securityHeaders = (): RequestHandler[] => [
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
  }),
  (_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  },
];

/** Lets browsers of exactly these origins in, and read the headers that clients need. */
export const crossOrigin = (origins: readonly string[], credentials: boolean): RequestHandler =>
  cors({
    origin: origins.length === 0 ? false : [...origins],
    credentials,
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    exposedHeaders: [
      ...['ETag', 'Retry-After', 'RateLimit', 'RateLimit-Policy'],
      ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-Request-Id'],
    ],
    maxAge: 600,
  });
