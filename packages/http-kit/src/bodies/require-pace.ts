import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { discardBody } from '../files/discard-body.ts';
import { hasBody } from '../has-body.ts';
import { requestTimedOut } from '../parser-errors.ts';

/** How many bytes of a body have to arrive in a second, on average of a window of time. */
export const MIN_BYTES_PER_SECOND = 1024;

/** The bytes that have to arrive in a window of this many milliseconds. */
export const bytesOfWindow = (windowMs: number): number => (windowMs / 1000) * MIN_BYTES_PER_SECOND;

/** The timers that check the pace of bodies. */
const checks = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Ends the server's check of the pace of a body; the caller checks it. */
export const takeOverPace = (req: IncomingMessage): void => clearInterval(checks.get(req));

/**
 * Requires each body to arrive at a minimal pace, so that the time for it follows its size: a window without enough bytes is a
 * 408, and ends the connection. A connection also ends soon after a response that does not wait for the rest of its body.
 * Node's own limit is one time for every request of any size.
 */
export const requirePace = (server: Server, windowMs: number): void => {
  server.requestTimeout = 0;
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    if (!hasBody(req)) return;
    const { socket } = req;
    let before = socket.bytesRead;
    const end = (): void => {
      clearInterval(timer);
      req.off('close', end);
      socket.off('close', end);
    };
    const check = (): void => {
      if (req.complete) return void end();
      const arrived = socket.bytesRead - before;
      before = socket.bytesRead;
      // While bytes wait for the handler, the client may have to wait too.
      if (arrived >= bytesOfWindow(windowMs) || req.readableLength > 0) return;
      end();
      // A server without a listener, such as that of the metrics, would let the connection wait forever.
      if (!server.emit('clientError', requestTimedOut(), socket)) socket.destroy();
    };
    const timer = setInterval(check, windowMs);
    checks.set(req, timer);
    req.once('close', end);
    // A request that was answered before its body had been read is not closed with its connection.
    socket.once('close', end);
    res.once('finish', () => discardBody(req, res));
  });
};
