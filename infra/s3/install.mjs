// Downloads S3Mock from Maven Central to target/lib.
import { fileURLToPath } from 'node:url';
import { installFromMaven } from '../maven.mjs';

/** See `installFromMaven`. */
export const install = () =>
  installFromMaven('S3Mock', fileURLToPath(new URL('.', import.meta.url)));
