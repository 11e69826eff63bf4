import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a client may continue to send after it has received the response, in milliseconds. */
const LINGER_MS = 2000;

/**
 * Discards the rest of the body after the response. Closing the connection at once would make a client that is
 * still sending see a reset instead of the response; if it continues for too long, the connection is closed.
 */
export const discardBody = (req: IncomingMessage, res: ServerResponse): void => {
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
