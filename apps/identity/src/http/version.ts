import { packageVersion } from '@tessera/http-kit';

/** The version of this release. */
export const version = packageVersion(new URL('../../package.json', import.meta.url));
