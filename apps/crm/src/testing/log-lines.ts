import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@tessera/http-kit';

/** A logger of everything, and the lines that it has written. */
export const keptLog = (): { readonly logger: Logger; readonly lines: readonly string[] } => {
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { logger: createLogger('crm', 'trace', stream), lines };
};
