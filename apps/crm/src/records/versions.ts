import { createHash } from 'node:crypto';
import { HttpError } from '@tessera/http-kit';
import type { Request } from 'express';
import { Prisma } from '../generated/prisma/client.ts';

const { sql, join } = Prisma;

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

const ENTITY_TAG = /^"([1-9]\d{0,8})(?:\.(\d{1,16}))?"$/;

/** A version that a change accepts: of whichever record has the key, or of the one with the revision. */
export type AcceptedVersion = number | Tag;

/**
 * The versions that an `If-Match` header accepts, with the revisions that it names; undefined accepts any version. Tags
 * compare strongly: a weak one never matches (RFC 9110 section 13.1.1), nor does one of another origin.
 */
export const acceptedTags = (ifMatch: string | undefined): Tag[] | undefined => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const [, version, revision] = ENTITY_TAG.exec(tag.trim()) ?? [];
    if (version === undefined) return [];
    const named = revision === undefined ? undefined : Number(revision);
    return [{ version: Number(version), revision: named }];
  });
};

/**
 * The same without the revisions, for records whose revision is that of what changes without a version: that does not
 * conflict with a change of the record.
 */
export const acceptedVersions = (ifMatch: string | undefined): number[] | undefined =>
  acceptedTags(ifMatch)?.map(({ version }) => version);

/**
 * The revision of a record whose key is not its id: another one may have the key later, with the same version. The last
 * digits of ids are random.
 */
export const revisionOfId = (id: string): number => Number.parseInt(id.slice(-12), 16);

/** The same of the column `id`. */
const idRevision = sql`('x' || right(id::text, 12))::bit(48)::bigint`;

const isNumber = (version: AcceptedVersion): version is number => typeof version === 'number';

/** The condition that a row has one of the versions. */
export const acceptedCondition = (versions: readonly AcceptedVersion[]): Prisma.Sql => {
  const tags = versions.filter((version): version is Tag => !isNumber(version));
  const ofTags = tags.map(
    ({ version, revision = null }) =>
      sql`(version = ${version}::int AND ${idRevision} = ${revision}::bigint)`,
  );
  return join([sql`version = ANY(${versions.filter(isNumber)}::int[])`, ...ofTags], ' OR ');
};

/** 412: the record has none of the versions that the caller accepts. */
export const preconditionFailed = (): HttpError =>
  new HttpError(412, 'precondition_failed', 'The resource has changed since it was read.');

/** Throws 412 if a row has none of the versions. */
export const checkVersion = (
  { id, version }: { readonly id: string; readonly version: number },
  versions: readonly AcceptedVersion[] | undefined,
): void => {
  const isThis = (accepted: AcceptedVersion): boolean =>
    isNumber(accepted)
      ? accepted === version
      : accepted.version === version && accepted.revision === revisionOfId(id);
  if (versions && !versions.some(isThis)) throw preconditionFailed();
};

export const isPreconditionFailed = (error: unknown): boolean =>
  error instanceof HttpError && error.status === 412;

/** The errors of a route that changes a certain version. */
export const changeProblems = {
  412: {
    description: 'The record is in none of the versions that `If-Match` names',
    error: preconditionFailed,
  },
} as const;
