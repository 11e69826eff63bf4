import type { Request, Response } from 'express';

/** Milliseconds that a client may go on sending after it has its answer. */
const LINGER_MS = 2000;

/**
 * Discards what is left of a body after the answer. A client that still sends a moment later loses its connection;
 * closed at once, it would see a reset in the place of the answer.
 */
export const discardBody = (req: Request, res: Response): void => {
  if (req.complete || req.destroyed) return;
  req.unpipe();
  req.resume();
  const cut = (): void => {
    const timer = setTimeout(() => req.complete || req.socket.destroy(), LINGER_MS);
    req.socket.once('close', () => clearTimeout(timer));
  };
  if (res.writableFinished) cut();
  else res.once('finish', cut);
};
