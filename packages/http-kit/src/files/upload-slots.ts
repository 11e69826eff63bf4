import type { Request, Response } from 'express';
import { HttpError } from '../http-error.ts';
import { InFlight } from '../in-flight.ts';

/** How many uploads may be received at the same time in this process. */
export interface UploadLimit {
  /** The setting of the limit, which the error names. */
  readonly name: string;
  readonly limit: number;
  /** Uploads with the same key are counted together. */
  key(req: Request, res: Response): string;
}

/** Ends an upload that was counted; has no effect the second time. */
export type EndUpload = () => void;

/** 429: as many uploads are under way as the limit allows. */
const tooManyUploads = ({ name, limit }: UploadLimit): HttpError =>
  new HttpError(
    429,
    'too_many_uploads',
    `${limit} uploads are under way, which is the limit (${name}). Try again when one has ended.`,
    { headers: { 'Retry-After': '10' }, details: { limit: name, max_uploads: limit } },
  );

/** Returns what counts an upload towards each of the limits; it throws 429 at the first that is reached. */
export const createUploadSlots = (
  limits: readonly UploadLimit[],
): ((req: Request, res: Response) => EndUpload) => {
  const counted = limits.map((limit) => ({ limit, inFlight: new InFlight(limit.limit) }));
  return (req, res) => {
    const begun: EndUpload[] = [];
    const end: EndUpload = () => {
      for (const endOne of begun.splice(0)) endOne();
    };
    for (const { limit, inFlight } of counted) {
      const key = limit.key(req, res);
      if (!inFlight.begin(key)) {
        end();
        throw tooManyUploads(limit);
      }
      begun.push(() => inFlight.end(key));
    }
    return end;
  };
};
