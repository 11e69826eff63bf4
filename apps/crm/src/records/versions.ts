import { createHash } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Request } from 'express';

/** The version of a record, and the revision of what changes without a version (`revision` of a kind). */
export interface Tag {
  readonly version: number;
  readonly revision?: number | undefined;
}

/** A revision of several values, which is another one when any of them changes. */
export const revisionOfAll = (...values: readonly (number | string | null | undefined)[]): number =>
  createHash('sha256').update(values.join()).digest().readUIntBE(0, 6);

/**
 * The header with a record's entity tag (RFC 9110 section 8.8.3); it is strong, since every change creates a
 * new one.
 */
export const tagged = ({ version, revision }: Tag): { ETag: string } => ({
  ETag: revision === undefined ? `"${version}"` : `"${version}.${revision}"`,
});

/** The headers of the response to a `POST` that created a record: its tag, and its path below that of the request. */
export const creationHeaders = (
  { originalUrl }: Pick<Request, 'originalUrl'>,
  created: Tag & { readonly id: string },
): { ETag: string; Location: string } => ({
  ETag: tagged(created).ETag,
  Location: `${originalUrl.split('?', 1)[0]}/${encodeURIComponent(created.id)}`,
});

const ENTITY_TAG = /^"([1-9]\d{0,8})(?:\.\d{1,16})?"$/;

/**
 * The versions that an `If-Match` header accepts; undefined accepts any version. Tags compare strongly: a weak
 * one never matches (RFC 9110 section 13.1.1), nor does one of another origin. The revision of a tag is not
 * compared: what changes without a version does not conflict with a change of the record.
 */
export const acceptedVersions = (ifMatch: string | undefined): number[] | undefined => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const version = ENTITY_TAG.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
};

/** 412: the record has none of the versions that the caller accepts. */
export const preconditionFailed = (): HttpError =>
  new HttpError(412, 'precondition_failed', 'The resource has changed since it was read.');

export const isPreconditionFailed = (error: unknown): boolean =>
  error instanceof HttpError && error.status === 412;

/** The errors of a route that changes a certain version. */
export const changeProblems = {
  412: {
    description: 'The record is in none of the versions that `If-Match` names',
    error: preconditionFailed,
  },
} as const;
